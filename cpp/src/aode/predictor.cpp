#include <limits>
#include <utility>

#include "aode/block.hpp"
#include "aode/finish.hpp"
#include "aode/plan.hpp"
#include "predict/code_batch.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/aode.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

struct AodePredictor::State {
  explicit State(const Aode& tables) : aode(tables), plan(tables) {}

  Aode aode;
  AodePlan plan;
};

namespace {

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

struct AodeBuffers : Predictor::Scratch::Buffers {
  AodeBlock block;
};

/// Averages the rows of a block.
template <class State>
void fill_block(const State& state, const CodeBatch& batch, std::size_t first, AodeBlock& block) {
  const AodePlan& plan = state.plan;
  for (std::size_t f = 0; f < plan.n_features(); ++f)
    with_codes(batch, plan.n_features(), f, first,
               [&](const auto* codes, std::size_t step) { load_feature(codes, step, plan, f, block); });
  average_block(state.aode, plan, block, best_isa());
}

/// Averages all rows in blocks on several threads; `take(first, block)` receives every block's sums.
template <class State, class Take>
void for_each_block(const State& state, const CodeBatch& batch, int threads, Take take) {
  parallel_for(batch.n_rows, aode_block_rows(state.plan), threads, [&](std::size_t begin, std::size_t end) {
    AodeBlock block(state.plan, end - begin);
    fill_block(state, batch, begin, block);
    take(begin, block);
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

void AodePredictor::run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const {
  for_each_block(*state_, batch, threads, [&](std::size_t first, const AodeBlock& block) {
    finish_rows(state_->plan, block, output, out.data() + first * state_->plan.n_classes);
  });
}

std::uint32_t AodePredictor::run_row(std::span<const Code> row, Output output, std::span<double> out,
                                     Scratch& scratch) const {
  AodeBlock& block = buffers_in<AodeBuffers>(scratch).block;
  block.resize(state_->plan, 1);
  fill_block(*state_, {1, row}, 0, block);
  return finish_row(state_->plan, block, output, out.data());
}

void AodePredictor::run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const {
  for_each_block(*state_, batch, threads, [&](std::size_t first, const AodeBlock& block) {
    finish_classes(state_->plan, block, out.data() + first);
  });
}

}  // namespace tanager
