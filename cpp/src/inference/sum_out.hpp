// ln P(class, observed features) of a row with missing features, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tanager/network.hpp"

namespace tanager {

/// Sums missing features out of one row: by passing messages up the trees where every feature has at most one feature
/// parent, by going through the joint values of the missing features that matter otherwise.
class SummingOut {
 public:
  /// Keeps references: network parts must outlive it. `log_tables` are the logarithms of the network's tables.
  SummingOut(const Structure& structure, std::span<const std::uint32_t> cardinalities, std::vector<double> log_prior,
             std::span<const std::vector<double>> log_tables);

  /// Buffers for one thread, so that many rows can be done without allocating.
  struct Workspace {
    std::vector<double> messages;
    std::vector<std::uint8_t> active;
    std::vector<Code> row;
    std::vector<std::size_t> missing;
    std::vector<double> terms;
  };

  /// `row` has kMissing where a feature is missing; writes n_classes numbers.
  void log_joint(std::span<const Code> row, std::span<double> out, Workspace& work) const;

 private:
  void pass_messages(std::span<const Code> row, std::span<double> out, Workspace& work) const;
  void enumerate(std::span<const Code> row, std::span<double> out, Workspace& work) const;
  const double* term(std::size_t feature, std::span<const Code> row) const;

  const Structure& structure_;
  bool one_dependence_;
  std::span<const std::uint32_t> cardinalities_;
  std::vector<double> log_prior_;
  std::span<const std::vector<double>> log_tables_;
  std::vector<std::size_t> message_offsets_;  // of every feature's [value][class] block in Workspace::messages
};

}  // namespace tanager
