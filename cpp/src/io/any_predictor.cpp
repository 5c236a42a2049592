// One interface to the predictors of all kinds of classifiers.
#include "tanager/model.hpp"

namespace tanager {
namespace {

using Predictors = std::variant<Predictor, AodePredictor>;

struct MakePredictor {
  Predictors operator()(const Network& network) const { return Predictor(network); }
  Predictors operator()(const Aode& aode) const { return AodePredictor(aode); }
};

}  // namespace

AnyPredictor::AnyPredictor(const Classifier& classifier) : predictor_(std::visit(MakePredictor{}, classifier)) {}

std::size_t AnyPredictor::n_features() const {
  return std::visit([](const auto& p) { return p.n_features(); }, predictor_);
}

std::uint32_t AnyPredictor::n_classes() const {
  return std::visit([](const auto& p) { return p.n_classes(); }, predictor_);
}

void AnyPredictor::predict(std::span<const Code> row, Output output, std::span<double> out) const {
  std::visit([&](const auto& p) { p.predict(row, output, out); }, predictor_);
}

std::uint32_t AnyPredictor::predict_class(std::span<const Code> row) const {
  return std::visit([&](const auto& p) { return p.predict_class(row); }, predictor_);
}

void AnyPredictor::predict_rows(std::span<const Code> rows, Output output, std::span<double> out, int threads) const {
  std::visit([&](const auto& p) { p.predict_rows(rows, output, out, threads); }, predictor_);
}

void AnyPredictor::predict_rows(std::span<const std::uint8_t> rows, Output output, std::span<double> out,
                                int threads) const {
  std::visit([&](const auto& p) { p.predict_rows(rows, output, out, threads); }, predictor_);
}

void AnyPredictor::predict_classes_rows(std::span<const Code> rows, std::span<std::uint32_t> out, int threads) const {
  std::visit([&](const auto& p) { p.predict_classes_rows(rows, out, threads); }, predictor_);
}

void AnyPredictor::predict_classes_rows(std::span<const std::uint8_t> rows, std::span<std::uint32_t> out,
                                        int threads) const {
  std::visit([&](const auto& p) { p.predict_classes_rows(rows, out, threads); }, predictor_);
}

void AnyPredictor::predict_columns(std::span<const CodeColumn> columns, std::size_t n_rows, Output output,
                                   std::span<double> out, int threads) const {
  std::visit([&](const auto& p) { p.predict_columns(columns, n_rows, output, out, threads); }, predictor_);
}

void AnyPredictor::predict_classes_columns(std::span<const CodeColumn> columns, std::size_t n_rows,
                                           std::span<std::uint32_t> out, int threads) const {
  std::visit([&](const auto& p) { p.predict_classes_columns(columns, n_rows, out, threads); }, predictor_);
}

}  // namespace tanager
