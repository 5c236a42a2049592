#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <typeinfo>
#include <variant>
#include <vector>

#include "tanager/dataset.hpp"

namespace tanager {

/// The output of a prediction for every row and class.
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

/// A batch of rows: feature by feature, or row by row.
struct CodeBatch {
  std::size_t n_rows = 0;
  std::variant<std::span<const CodeColumn>, std::span<const Code>, std::span<const std::uint8_t>> codes;
};

/// The interface of all predictors, for every kind of classifier. The same row gives the same bits alone,
/// in a batch, on any number of threads, and on any instruction set with the same libm: tables are made with its log
/// and exp, which may differ in the last bit from one C library or CPU to another. Immutable and safe to share between
/// threads.
class Predictor {
 public:
  virtual ~Predictor() = default;

  [[nodiscard]] virtual std::size_t n_features() const = 0;
  [[nodiscard]] virtual std::uint32_t n_classes() const = 0;

  /// Buffers for predicting row after row, with one predictor or with several in turn. A complete row needs none where
  /// the classifier is a network with at most 64 classes. Any other row allocates memory on every call, unless the
  /// caller passes a scratch: then only the first row does, and later ones that need larger buffers than all before.
  /// Two kinds of rows always may: those with a new set of missing features, in a network where a feature has several
  /// feature parents, and those of TbmatanPredictor::Method::kExact. Owned by the caller; not safe to share between
  /// threads: give every thread its own.
  class Scratch {
   public:
    /// The buffers of one kind of predictor.
    struct Buffers {
      virtual ~Buffers() = default;
    };

    Scratch() = default;
    ~Scratch() = default;
    Scratch(Scratch&&) noexcept = default;
    Scratch& operator=(Scratch&&) noexcept = default;

   private:
    friend class Predictor;
    std::unique_ptr<Buffers> buffers_;  // of the kind of predictor that used it last
    std::vector<double> joint_;
  };

  /// One row: writes n_classes numbers and returns the most probable class; ties go to the lowest index.
  std::uint32_t predict(std::span<const Code> row, Output output, std::span<double> out) const;
  std::uint32_t predict(std::span<const Code> row, Output output, std::span<double> out, Scratch& scratch) const;
  /// The most probable class alone.
  [[nodiscard]] std::uint32_t predict_class(std::span<const Code> row) const;
  [[nodiscard]] std::uint32_t predict_class(std::span<const Code> row, Scratch& scratch) const;

  /// A batch given row by row: rows.size() = n_rows * n_features, out.size() = n_rows * n_classes. A single row of
  /// 16-bit codes takes the short path of predict().
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

 protected:
  Predictor() = default;
  Predictor(const Predictor&) = default;
  Predictor(Predictor&&) noexcept = default;
  Predictor& operator=(const Predictor&) = default;
  Predictor& operator=(Predictor&&) noexcept = default;

  /// The buffers of one kind of predictor; created again if another kind used the scratch last.
  template <class Buffers>
  static Buffers& buffers_in(Scratch& scratch) {
    Scratch::Buffers* kept = scratch.buffers_.get();
    if (kept == nullptr || typeid(*kept) != typeid(Buffers)) scratch.buffers_ = std::make_unique<Buffers>();
    return static_cast<Buffers&>(*scratch.buffers_);
  }

 private:
  // Sizes are checked before any of these is called; codes are not.
  virtual void run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const = 0;
  virtual void run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const = 0;
  virtual std::uint32_t run_row(std::span<const Code> row, Output output, std::span<double> out,
                                Scratch& scratch) const = 0;

  template <class T>
  CodeBatch batch_of(std::span<const T> rows) const;
  CodeBatch batch_of(std::span<const CodeColumn> columns, std::size_t n_rows) const;
  void checked_run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const;
  void checked_run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const;
};

}  // namespace tanager
