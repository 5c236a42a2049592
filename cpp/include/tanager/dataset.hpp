#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tanager {

/// The code of a value: 0 .. n_values-1, or kMissing.
using Code = std::uint16_t;
inline constexpr Code kMissing = 0xFFFF;
/// The missing code of an 8-bit column.
inline constexpr std::uint8_t kMissing8 = 0xFF;

/// Columns of up to this many values are kept in 8 bits.
inline constexpr std::uint32_t kMaxNarrowValues = 254;
/// Maximum number of values of a variable.
inline constexpr std::uint32_t kMaxValues = 65534;

/// The codes of one variable for all rows, in 8 or 16 bits. Immutable, safe to share between threads, and
/// cheap to copy: copies share the codes.
class Column {
 public:
  /// Takes ownership of the codes. Throws InvalidInput if a code is neither below n_values nor the missing code.
  Column(std::vector<std::uint8_t> codes, std::uint32_t n_values);
  Column(std::vector<std::uint16_t> codes, std::uint32_t n_values);
  /// Views codes that `owner` keeps alive, without copying them.
  Column(std::span<const std::uint8_t> codes, std::uint32_t n_values, std::shared_ptr<const void> owner);
  Column(std::span<const std::uint16_t> codes, std::uint32_t n_values, std::shared_ptr<const void> owner);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Number of values of the variable (its cardinality).
  [[nodiscard]] std::uint32_t n_values() const { return n_values_; }
  [[nodiscard]] bool is_wide() const { return wide_; }
  [[nodiscard]] bool has_missing() const { return has_missing_; }
  /// The codes of an 8-bit column; empty for a 16-bit one, and the other way round.
  [[nodiscard]] std::span<const std::uint8_t> narrow() const;
  [[nodiscard]] std::span<const std::uint16_t> wide() const;
  /// Calls use(codes) with the span of the codes in their own width, and returns its result.
  template <class Use>
  auto visit(Use use) const {
    return wide_ ? use(wide()) : use(narrow());
  }
  /// The code of a row, kMissing if it is missing, for either width.
  [[nodiscard]] Code operator[](std::size_t row) const;

 private:
  template <class T>
  void check();

  std::shared_ptr<const void> owner_;
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t n_values_ = 0;
  bool wide_ = false;
  bool has_missing_ = false;
};

/// A table of coded features with a class and, optionally, a weight for every row. Immutable and safe to share between
/// threads.
class Dataset {
 public:
  /// Throws InvalidInput if sizes differ, the class has missing codes, or a weight is negative or not finite.
  /// Empty weights mean that every row has weight one.
  Dataset(std::vector<Column> features, Column target, std::vector<double> weights = {});

  [[nodiscard]] std::size_t n_rows() const { return target_.size(); }
  [[nodiscard]] std::size_t n_features() const { return features_.size(); }
  [[nodiscard]] std::uint32_t n_classes() const { return target_.n_values(); }
  [[nodiscard]] const Column& feature(std::size_t i) const { return features_[i]; }
  [[nodiscard]] const std::vector<Column>& features() const { return features_; }
  [[nodiscard]] const Column& target() const { return target_; }
  [[nodiscard]] bool is_weighted() const { return !weights_.empty(); }
  [[nodiscard]] std::span<const double> weights() const { return weights_; }
  /// The number of values of every feature.
  [[nodiscard]] std::vector<std::uint32_t> cardinalities() const;

  /// The given rows, in the given order; a row may occur several times.
  [[nodiscard]] Dataset subset(std::span<const std::size_t> rows) const;

 private:
  std::vector<Column> features_;
  Column target_;
  std::vector<double> weights_;
};

}  // namespace tanager
