#include <limits>
#include <utility>

#include "averaging/aode_block.hpp"
#include "averaging/aode_finish.hpp"
#include "averaging/aode_plan.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/aode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

struct AodePredictor::State {
  explicit State(const Aode& tables) : aode(tables), plan(tables) {}

  Aode aode;
  AodePlan plan;
};

namespace {

void check_size(const char* what, std::size_t expected, std::size_t actual) {
  if (expected != actual) throw InvalidInput(join_text(what, " must have ", expected, " numbers, but has ", actual));
}

std::size_t count_rows(std::size_t n_codes, std::size_t n_features) {
  if (n_features == 0 || n_codes % n_features != 0)
    throw InvalidInput(
        join_text("rows of ", n_features, " features were expected, but ", n_codes, " codes do not make whole rows"));
  return n_codes / n_features;
}

/// Copies the codes of one feature, `step` apart, to its slots. Notes whether any is missing.
template <class T>
void load_feature(const T* codes, std::size_t step, const AodePlan& plan, std::size_t feature, AodeBlock& block) {
  constexpr T kMissingCode = std::numeric_limits<T>::max();
  const std::uint32_t values = plan.cardinalities[feature];
  std::uint16_t* slots = block.slots_of(feature);
  bool missing = false, unknown = false;
  for (std::size_t row = 0; row < block.rows; ++row) {
    const T code = codes[row * step];
    const bool lacks = code == kMissingCode;
    missing |= lacks;
    unknown |= !lacks && code >= values;
    slots[row] = static_cast<std::uint16_t>(lacks ? values : code);
  }
  block.has_missing[feature] = missing;
  if (!unknown) return;
  for (std::size_t row = 0; row < block.rows; ++row)
    if (codes[row * step] != kMissingCode && codes[row * step] >= values)
      throw InvalidInput(join_text("feature ", feature, " has code ", std::uint32_t{codes[row * step]}, ", but ",
                                   values, " values are known"));
}

/// Where a batch's codes are: by columns, or row by row.
struct ByColumns {
  std::span<const CodeColumn> columns;

  void load(std::size_t first, const AodePlan& plan, std::size_t feature, AodeBlock& block) const {
    if (columns[feature].wide)
      load_feature(static_cast<const std::uint16_t*>(columns[feature].codes) + first, 1, plan, feature, block);
    else
      load_feature(static_cast<const std::uint8_t*>(columns[feature].codes) + first, 1, plan, feature, block);
  }
};

template <class T>
struct ByRows {
  std::span<const T> codes;

  void load(std::size_t first, const AodePlan& plan, std::size_t feature, AodeBlock& block) const {
    const std::size_t n = plan.n_features();
    load_feature(codes.data() + first * n + feature, n, plan, feature, block);
  }
};

/// Averages all rows in blocks on several threads; `take(first, block)` receives every block's sums.
template <class State, class Source, class Take>
void for_each_block(const State& state, std::size_t n_rows, int threads, const Source& source, Take take) {
  const AodePlan& plan = state.plan;
  parallel_for(n_rows, aode_block_rows(plan), threads, [&](std::size_t begin, std::size_t end) {
    AodeBlock block(plan, end - begin);
    for (std::size_t f = 0; f < plan.n_features(); ++f) source.load(begin, plan, f, block);
    average_block(state.aode, plan, block, best_isa());
    take(begin, block);
  });
}

template <class State, class Source>
void predict_batch(const State& state, std::size_t n_rows, const Source& source, Output output, std::span<double> out,
                   int threads) {
  const std::size_t s = state.plan.n_classes;
  check_size("the output", n_rows * s, out.size());
  for_each_block(state, n_rows, threads, source, [&](std::size_t first, const AodeBlock& block) {
    finish_rows(state.plan, block, output, out.data() + first * s);
  });
}

template <class State, class Source>
void predict_batch_classes(const State& state, std::size_t n_rows, const Source& source, std::span<std::uint32_t> out,
                           int threads) {
  check_size("the output", n_rows, out.size());
  for_each_block(state, n_rows, threads, source, [&](std::size_t first, const AodeBlock& block) {
    finish_classes(state.plan, block, out.data() + first);
  });
}

}  // namespace

AodePredictor::AodePredictor(const Aode& aode) : state_(std::make_unique<const State>(aode)) {}
AodePredictor::~AodePredictor() = default;
AodePredictor::AodePredictor(AodePredictor&&) noexcept = default;
AodePredictor& AodePredictor::operator=(AodePredictor&&) noexcept = default;

std::size_t AodePredictor::n_features() const {
  return state_->plan.n_features();
}

std::uint32_t AodePredictor::n_classes() const {
  return state_->plan.n_classes;
}

void AodePredictor::predict(std::span<const Code> row, Output output, std::span<double> out) const {
  check_size("a row", n_features(), row.size());
  predict_batch(*state_, 1, ByRows<Code>{row}, output, out, 1);
}

std::uint32_t AodePredictor::predict_class(std::span<const Code> row) const {
  check_size("a row", n_features(), row.size());
  std::uint32_t best = 0;
  predict_batch_classes(*state_, 1, ByRows<Code>{row}, {&best, 1}, 1);
  return best;
}

void AodePredictor::predict_rows(std::span<const Code> rows, Output output, std::span<double> out, int threads) const {
  predict_batch(*state_, count_rows(rows.size(), n_features()), ByRows<Code>{rows}, output, out, threads);
}

void AodePredictor::predict_rows(std::span<const std::uint8_t> rows, Output output, std::span<double> out,
                                 int threads) const {
  predict_batch(*state_, count_rows(rows.size(), n_features()), ByRows<std::uint8_t>{rows}, output, out, threads);
}

void AodePredictor::predict_classes_rows(std::span<const Code> rows, std::span<std::uint32_t> out, int threads) const {
  predict_batch_classes(*state_, count_rows(rows.size(), n_features()), ByRows<Code>{rows}, out, threads);
}

void AodePredictor::predict_classes_rows(std::span<const std::uint8_t> rows, std::span<std::uint32_t> out,
                                         int threads) const {
  predict_batch_classes(*state_, count_rows(rows.size(), n_features()), ByRows<std::uint8_t>{rows}, out, threads);
}

void AodePredictor::predict_columns(std::span<const CodeColumn> columns, std::size_t n_rows, Output output,
                                    std::span<double> out, int threads) const {
  check_size("the list of columns", n_features(), columns.size());
  predict_batch(*state_, n_rows, ByColumns{columns}, output, out, threads);
}

void AodePredictor::predict_classes_columns(std::span<const CodeColumn> columns, std::size_t n_rows,
                                            std::span<std::uint32_t> out, int threads) const {
  check_size("the list of columns", n_features(), columns.size());
  predict_batch_classes(*state_, n_rows, ByColumns{columns}, out, threads);
}

}  // namespace tanager
