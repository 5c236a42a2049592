#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/dataset.hpp"

namespace tanager {

/// A feature with its feature parents. The class is a parent of every feature and is not listed.
struct Family {
  std::size_t child = 0;
  std::vector<std::size_t> parents;

  bool operator==(const Family&) const = default;
};

/// Maximum number of feature parents of a family. With two values each, kMaxTableCells allows fewer than 28.
inline constexpr std::size_t kMaxParents = 64;

/// Maximum number of cells of a table.
inline constexpr std::uint64_t kMaxTableCells = std::uint64_t{1} << 28;

/// Counts of one family. Cells are flat: parents outermost in the family's order, then the child's value, then the
/// class (stride 1). Counts are doubles: exact for integers up to 2^53, and the same type serves weighted rows.
struct CountTable {
  Family family;
  /// Number of values of each parent, in order, then of the child.
  std::vector<std::uint32_t> dims;
  std::uint32_t n_classes = 0;
  std::vector<double> cells;
};

/// Which tables a CountSet holds besides the class counts and every feature with the class.
enum class CountScope {
  kSingles,  ///< nothing more: sufficient for naive Bayes
  kPairs     ///< every pair of features with the class: sufficient for one-dependence structures
};

/// How the codes of a variable change with its list of values: the new code of every old code.
using Recoding = std::vector<Code>;

/// The counts that classifiers are learned from. Sets over the same variables add (streams, clusters) and subtract
/// (folds). A row counts in a table if the table's features are all observed in it (available cases). Several threads
/// may read a set at once while none changes it.
class CountSet {
 public:
  /// All counts zero. Throws InvalidInput, naming the features and the size, if a table or the set is too large.
  CountSet(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes, CountScope scope,
           std::vector<Family> families = {});

  [[nodiscard]] std::size_t n_features() const { return cardinalities_.size(); }
  [[nodiscard]] std::uint32_t n_classes() const { return n_classes_; }
  [[nodiscard]] std::span<const std::uint32_t> cardinalities() const { return cardinalities_; }
  [[nodiscard]] CountScope scope() const { return scope_; }
  [[nodiscard]] const std::vector<Family>& families() const { return families_; }
  /// Sum of the weights of all rows; without weights, their number.
  [[nodiscard]] double n_rows() const;

  [[nodiscard]] std::span<const double> class_counts() const { return class_counts_; }
  std::span<double> class_counts() { return class_counts_; }
  /// [value of f][class]
  [[nodiscard]] std::span<const double> single(std::size_t f) const;
  std::span<double> single(std::size_t f);
  /// [value of u][value of v][class] for u < v; only with CountScope::kPairs.
  [[nodiscard]] std::span<const double> pair(std::size_t u, std::size_t v) const;
  std::span<double> pair(std::size_t u, std::size_t v);
  /// The i-th of families(), laid out as in CountTable.
  [[nodiscard]] std::span<const double> family(std::size_t i) const;
  std::span<double> family(std::size_t i);

  /// All cells except those of the class: single features, then pairs (0,1), (0,2), ..., (1,2), ..., then families().
  [[nodiscard]] std::span<const double> cells() const { return cells_; }
  std::span<double> cells() { return cells_; }

  /// Counts of a family that this set contains: no parents, one parent with kPairs, or one of families().
  /// Throws InvalidInput otherwise.
  [[nodiscard]] CountTable table(const Family& family) const;
  [[nodiscard]] bool can_answer(const Family& family) const;

  /// Throw InvalidInput unless the other set is over the same variables and tables.
  CountSet& operator+=(const CountSet& other);
  CountSet& operator-=(const CountSet& other);

  /// The same counts after lists of values have grown: one recoding per feature, and one of the class.
  [[nodiscard]] CountSet recoded(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                                 const std::vector<Recoding>& features, const Recoding& classes) const;

  /// The same counts after values have been merged or dropped. Values with the same new code add up; kMissing drops
  /// a value, as if it had been missing, and a class with its rows. An empty recoding leaves a variable unchanged.
  [[nodiscard]] CountSet merged(std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                                const std::vector<Recoding>& features, const Recoding& classes) const;

 private:
  void check_total(std::uint64_t cells) const;

  std::vector<std::uint32_t> cardinalities_;
  std::uint32_t n_classes_ = 0;
  CountScope scope_ = CountScope::kSingles;
  std::vector<Family> families_;
  std::vector<double> class_counts_;
  std::vector<double> cells_;                // singles, pairs, families, one after the other
  std::vector<std::size_t> single_offsets_;  // n_features + 1
  std::vector<std::size_t> pair_offsets_;    // of (u, u + 1), for every u; (u, u + 2), ... follow. Empty without pairs
  std::vector<std::size_t> family_offsets_;  // families + 1
};

/// Counts a dataset in one pass. The result does not depend on the number of threads.
[[nodiscard]] CountSet count(const Dataset& data, CountScope scope, const std::vector<Family>& families = {},
                             int threads = 1);

/// Adds the rows of a dataset to counts over the same variables. Parts of a dataset, added in the order of their rows,
/// give the same bits as all rows at once: weights, too, add up row by row. Throws InvalidInput if
/// cardinalities or the number of classes differ.
void count_into(const Dataset& data, CountSet& counts, int threads = 1);

/// Counts of other families in the rows of `counts`: those of the class and of single features are taken from there
/// where they are integers, and only the families are counted. The same as `count` with kSingles.
[[nodiscard]] CountSet count_families(const Dataset& data, const CountSet& counts, const std::vector<Family>& families,
                                      int threads = 1);

/// Counts of one family alone.
[[nodiscard]] CountTable count_family(const Dataset& data, const Family& family);

/// Number of cells of a family's table, class included. Throws InvalidInput, naming child, parents and size, above
/// kMaxTableCells.
std::uint64_t checked_table_size(const Family& family, std::span<const std::uint32_t> cardinalities,
                                 std::uint32_t n_classes);

}  // namespace tanager
