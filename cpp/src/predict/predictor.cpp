// Checks sizes, and leaves the rest to the predictor of the kind at hand.
#include "tanager/predictor.hpp"

#include <limits>
#include <span>
#include <variant>

#include "support/check_stop.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

void check_size(const char* what, std::size_t expected, std::size_t actual) {
  if (expected != actual) throw InvalidInput(join_text(what, " must have ", expected, " numbers, got ", actual));
}

constexpr std::uint32_t kClassesOnStack = 64;

/// The only row of a batch, if it is given as a predictor takes single rows; else null.
const std::span<const Code>* single_row(const CodeBatch& batch) {
  return batch.n_rows == 1 ? std::get_if<std::span<const Code>>(&batch.codes) : nullptr;
}

}  // namespace

template <class T>
CodeBatch Predictor::batch_of(std::span<const T> rows) const {
  const std::size_t n = n_features();
  if (n == 0 || rows.size() % n != 0)
    throw InvalidInput(
        join_text("expected rows of ", n, " features, got ", rows.size(), " codes, which are not complete rows"));
  return {rows.size() / n, rows};
}

CodeBatch Predictor::batch_of(std::span<const CodeColumn> columns, std::size_t n_rows) const {
  check_size("the list of columns", n_features(), columns.size());
  return {n_rows, columns};
}

void Predictor::checked_run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const {
  const std::size_t n_classes = this->n_classes();
  if (batch.n_rows > std::numeric_limits<std::size_t>::max() / n_classes)
    throw InvalidInput(join_text("no output can have ", n_classes, " numbers for each of ", batch.n_rows, " rows"));
  check_size("the output", batch.n_rows * n_classes, out.size());
  if (const auto* row = single_row(batch)) {
    check_stop();
    Scratch scratch;
    run_row(*row, output, out, scratch);
    return;
  }
  run(batch, output, out, threads);
}

void Predictor::checked_run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const {
  check_size("the output", batch.n_rows, out.size());
  if (const auto* row = single_row(batch)) {
    check_stop();
    out[0] = predict_class(*row);
    return;
  }
  run_classes(batch, out, threads);
}

std::uint32_t Predictor::predict(std::span<const Code> row, Output output, std::span<double> out) const {
  Scratch scratch;
  return predict(row, output, out, scratch);
}

std::uint32_t Predictor::predict(std::span<const Code> row, Output output, std::span<double> out,
                                 Scratch& scratch) const {
  check_size("a row", n_features(), row.size());
  check_size("the output", n_classes(), out.size());
  return run_row(row, output, out, scratch);
}

std::uint32_t Predictor::predict_class(std::span<const Code> row) const {
  Scratch scratch;
  return predict_class(row, scratch);
}

std::uint32_t Predictor::predict_class(std::span<const Code> row, Scratch& scratch) const {
  check_size("a row", n_features(), row.size());
  double few[kClassesOnStack];
  if (n_classes() <= kClassesOnStack) return run_row(row, Output::kLogJoint, {few, n_classes()}, scratch);
  scratch.joint_.resize(n_classes());
  return run_row(row, Output::kLogJoint, scratch.joint_, scratch);
}

void Predictor::predict_rows(std::span<const Code> rows, Output output, std::span<double> out, int threads) const {
  checked_run(batch_of(rows), output, out, threads);
}

void Predictor::predict_rows(std::span<const std::uint8_t> rows, Output output, std::span<double> out,
                             int threads) const {
  checked_run(batch_of(rows), output, out, threads);
}

void Predictor::predict_classes_rows(std::span<const Code> rows, std::span<std::uint32_t> out, int threads) const {
  checked_run_classes(batch_of(rows), out, threads);
}

void Predictor::predict_classes_rows(std::span<const std::uint8_t> rows, std::span<std::uint32_t> out,
                                     int threads) const {
  checked_run_classes(batch_of(rows), out, threads);
}

void Predictor::predict_columns(std::span<const CodeColumn> columns, std::size_t n_rows, Output output,
                                std::span<double> out, int threads) const {
  checked_run(batch_of(columns, n_rows), output, out, threads);
}

void Predictor::predict_classes_columns(std::span<const CodeColumn> columns, std::size_t n_rows,
                                        std::span<std::uint32_t> out, int threads) const {
  checked_run_classes(batch_of(columns, n_rows), out, threads);
}

}  // namespace tanager
