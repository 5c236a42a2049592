#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tanager/inference.hpp"
#include "tanager/network.hpp"
#include "tanager/predictor.hpp"

namespace tanager {

/// Fast prediction with a network: flat tables of logarithms, several features joined into one look-up where that pays.
/// A missing feature is marginalized exactly. Immutable and safe to share between threads.
class NetworkPredictor : public Predictor {
 public:
  /// `max_cells` limits the junction tree of a row with missing features, as in Inference.
  explicit NetworkPredictor(const Network& network, std::uint64_t max_cells = kMaxCliqueCells);
  ~NetworkPredictor() override;
  NetworkPredictor(NetworkPredictor&&) noexcept;
  NetworkPredictor& operator=(NetworkPredictor&&) noexcept;

  [[nodiscard]] std::size_t n_features() const override;
  [[nodiscard]] std::uint32_t n_classes() const override;

 private:
  void run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const override;
  void run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const override;
  std::uint32_t run_row(std::span<const Code> row, Output output, std::span<double> out,
                        Scratch& scratch) const override;

  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace tanager
