#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tanager/network.hpp"

namespace tanager {

/// What a prediction writes for every row and class.
enum class Output {
  kLogJoint,      ///< ln P(class, features)
  kLogPosterior,  ///< ln P(class | features)
  kPosterior      ///< P(class | features)
};

/// The codes of one feature for a batch of rows: 8-bit codes with kMissing8, or 16-bit codes with kMissing.
struct CodeColumn {
  const void* codes = nullptr;
  bool wide = false;

  CodeColumn() = default;
  CodeColumn(const std::uint8_t* narrow_codes) : codes(narrow_codes), wide(false) {}
  CodeColumn(const std::uint16_t* wide_codes) : codes(wide_codes), wide(true) {}
};

/// A network made ready for speed: flat tables of logarithms, several features joined into one look-up where that pays.
/// A missing feature is summed out exactly. The same row gives the same bits alone, in a batch, on any number of
/// threads and on any instruction set. Immutable and safe to share between threads.
class Predictor {
 public:
  explicit Predictor(const Network& network);
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  std::size_t n_features() const;
  std::uint32_t n_classes() const;

  /// One row: writes n_classes numbers. Allocates nothing unless a feature is missing.
  void predict(std::span<const Code> row, Output output, std::span<double> out) const;
  /// The most probable class of one row; ties go to the lowest index.
  std::uint32_t predict_class(std::span<const Code> row) const;

  /// A batch given row by row: rows.size() = n_rows * n_features, out.size() = n_rows * n_classes.
  void predict_rows(std::span<const Code> rows, Output output, std::span<double> out, int threads = 1) const;
  void predict_rows(std::span<const std::uint8_t> rows, Output output, std::span<double> out, int threads = 1) const;
  /// The most probable class of every row.
  void predict_classes_rows(std::span<const Code> rows, std::span<std::uint32_t> out, int threads = 1) const;
  void predict_classes_rows(std::span<const std::uint8_t> rows, std::span<std::uint32_t> out, int threads = 1) const;

  /// A batch given feature by feature (faster: nothing is transposed); `columns` has one entry per feature.
  void predict_columns(std::span<const CodeColumn> columns, std::size_t n_rows, Output output, std::span<double> out,
                       int threads = 1) const;
  void predict_classes_columns(std::span<const CodeColumn> columns, std::size_t n_rows, std::span<std::uint32_t> out,
                               int threads = 1) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace tanager
