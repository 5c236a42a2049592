#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tanager/inference.hpp"
#include "tanager/network.hpp"

namespace tanager {

/// The observed values of a case.
struct Evidence {
  std::vector<Code> features;  ///< a code or kMissing for every feature; those of absent features do not matter
  std::optional<std::uint32_t> target;  ///< the class, if it is known
};

/// A joint distribution: the probabilities are flat, the first variable outermost.
struct JointTable {
  std::vector<std::size_t> variables;  ///< features by their index; n_features is the class
  std::vector<std::uint32_t> dims;     ///< number of values of each
  std::vector<double> probabilities;
};

/// A complete case.
struct Explanation {
  std::vector<Code> features;  ///< kMissing for absent features
  std::uint32_t target = 0;
  double log_probability = 0;  ///< ln P(case), evidence included
};

/// Queries of a network. Evidence that has probability zero is rejected with InvalidInput, except by
/// log_probability(); so are codes that a feature does not have, and queries that would take more than `max_cells`
/// cells (from 1 to kMostCliqueCells), naming the features of the largest clique. Immutable and safe to share between
/// threads.
class Queries {
 public:
  explicit Queries(const Network& network, std::uint64_t max_cells = kMaxCliqueCells);
  ~Queries();
  Queries(Queries&&) noexcept;
  Queries& operator=(Queries&&) noexcept;

  /// ln P(evidence); minus infinity if it is impossible.
  [[nodiscard]] double log_probability(const Evidence& evidence) const;

  /// P(variables | evidence): features by their index, n_features for the class, each once, in any order. A variable
  /// that is part of the evidence has all its probability on the value observed.
  [[nodiscard]] JointTable posterior(const Evidence& evidence, std::span<const std::size_t> variables) const;

  /// The most probable complete case that agrees with the evidence. Of several equally probable ones, that with the
  /// lowest class, then with the lowest code of the first feature, and so on.
  [[nodiscard]] Explanation most_probable(const Evidence& evidence) const;

  /// Draws cases from P(everything | evidence), independently of each other. `out` has (n_features + 1) * n_cases
  /// codes: the cases feature by feature, kMissing for absent ones, and then their classes. The same seed gives the
  /// same cases on any number of threads.
  void sample(const Evidence& evidence, std::uint64_t seed, std::span<Code> out, int threads = 1) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tanager
