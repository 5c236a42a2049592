#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tanager/network.hpp"

namespace tanager {

/// A table for every family of a network: entry f is that of feature f, [parent configurations][values][classes] (empty
/// for an absent feature), and the last entry, n_features, that of the class, [configurations of its parents][classes].
/// The class is the innermost axis of all of them, also where it is no parent of the feature. Inference reads
/// probabilities laid out this way, and adds up expected counts laid out this way.
using FamilyTables = std::vector<std::vector<double>>;

/// The probabilities of a network.
[[nodiscard]] FamilyTables family_tables(const Network& network);

/// Probabilities with their logarithms: what inference reads. A learner that changes `probabilities` calls
/// refresh_logs() before the next row.
struct InferenceTables {
  explicit InferenceTables(FamilyTables probabilities);
  /// From logarithms alone.
  [[nodiscard]] static InferenceTables from_logs(FamilyTables logs);
  void refresh_logs();

  FamilyTables probabilities;
  FamilyTables logs;

 private:
  InferenceTables() = default;
};

/// Unless told otherwise (`max_cells`), the cells of all cliques of a junction tree together may not number more than
/// this, classes included. A cell takes about 24 bytes.
inline constexpr std::uint64_t kMaxCliqueCells = std::uint64_t{1} << 24;
/// No larger limit can be set: cells are numbered with 32 bits.
inline constexpr std::uint64_t kMostCliqueCells = (std::uint64_t{1} << 32) - 1;

/// Exact inference about rows with missing features, given each of the classes. It knows the structure only: the tables
/// are arguments of every call, since learners change them all the time. Where every feature has at most one feature
/// parent, messages pass through the trees; any other structure is compiled into a junction tree for each pattern of
/// observed features, kept (up to a limit) for the rows to come. All sums are carried as logarithms: nothing
/// underflows. Immutable but for the plans it keeps, which are synchronized: safe to share between threads.
class Inference {
 public:
  /// `max_cells`, from 1 to kMostCliqueCells, limits the size of a junction tree: a row that needs more cells is
  /// rejected with CliqueTooLarge, which names the largest clique by the indices of its features.
  Inference(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
            std::uint64_t max_cells = kMaxCliqueCells);
  ~Inference();
  Inference(Inference&&) noexcept;
  Inference& operator=(Inference&&) noexcept;

  /// Buffers for one Inference after another. What it holds belongs to the last call. Not safe to share between
  /// threads: give every thread its own.
  class Workspace {
   public:
    Workspace();
    ~Workspace();
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;

   private:
    friend class Inference;
    struct State;
    std::unique_ptr<State> state_;
  };

  /// ln P(observed features, class) for every class: n_classes numbers. `row` has a code or kMissing for each feature;
  /// codes must be below the cardinalities, which is not checked.
  void log_evidence(const InferenceTables& tables, std::span<const Code> row, Workspace& work,
                    std::span<double> out) const;

  /// The same, and gets the workspace ready for add_family_posteriors().
  void collect(const InferenceTables& tables, std::span<const Code> row, Workspace& work, std::span<double> out) const;

  /// After collect() of the same row, tables and workspace: adds class_weights[c] * P(family's values | row, class c)
  /// to the cells of every family, those of missing and of barren features included: expected counts, if the weights
  /// are the probabilities of the classes. A class under which the row is impossible adds nothing. `sums` is laid out
  /// as the tables. May be called several times, with other weights or sums, after one collect(). Throws InvalidInput
  /// if the last call that used the workspace was not collect() by the same Inference.
  void add_family_posteriors(const InferenceTables& tables, std::span<const double> class_weights, Workspace& work,
                             FamilyTables& sums) const;

  /// Tables of the right sizes full of zeros, to add expected counts to.
  [[nodiscard]] FamilyTables zero_tables() const;

  [[nodiscard]] std::size_t n_features() const;
  [[nodiscard]] std::uint32_t n_classes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tanager
