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
/// The class is the innermost axis of all of them, also where it is not a parent of the feature. Inference reads
/// probabilities laid out this way, and adds up expected counts laid out this way.
using FamilyTables = std::vector<std::vector<double>>;

/// The probabilities of a network.
[[nodiscard]] FamilyTables family_tables(const Network& network);

/// Probabilities with their logarithms, the input of inference. A learner that changes `probabilities` calls
/// refresh_logs() before the next row. Several threads may read them at once while none changes them.
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

/// Default of `max_cells`, the maximum number of cells of all cliques of a junction tree together, classes included. A
/// cell takes about 24 bytes.
inline constexpr std::uint64_t kMaxCliqueCells = std::uint64_t{1} << 24;
/// The largest limit that can be set: cells are numbered with 32 bits.
inline constexpr std::uint64_t kMostCliqueCells = (std::uint64_t{1} << 32) - 1;

/// Exact inference about rows with missing features, given each of the classes. It knows the structure only: the tables
/// are arguments of every call, since learners change them all the time. Where every feature has at most one feature
/// parent, messages pass through the trees; any other structure is compiled into a junction tree for each pattern of
/// observed features, which is cached (up to a limit). All sums are computed as logarithms: nothing underflows. Safe to
/// share between threads: apart from that synchronized cache it is immutable.
class Inference {
 public:
  /// `max_cells`, from 1 to kMostCliqueCells, limits the size of a junction tree: a row that needs more cells is
  /// rejected with CliqueTooLarge, which names the largest clique by the indices of its features.
  Inference(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
            std::uint64_t max_cells = kMaxCliqueCells);
  ~Inference();
  Inference(Inference&&) noexcept;
  Inference& operator=(Inference&&) noexcept;

  /// Buffers for calls of one or several Inference objects; holds the state of the last call. Not safe to share between
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

  /// The same, and prepares the workspace for add_family_posteriors().
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
