// Super-parents are the outer loop: the tables of one are used for all rows of the block before those of the next. The
// rows are sorted by the super-parent's value, since its tables are for one value at a time.
#include "aode/block.hpp"

#include <algorithm>
#include <limits>

#include "aode/kernel.hpp"
#include "aode/lanes.hpp"

namespace tanager::internal {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{512} << 10;
constexpr std::size_t kMaxBlockRows = 4096;
// Joined tables above this many cells are not made.
constexpr std::uint64_t kMaxJoinedCells = std::uint64_t{1} << 19;
// So few rows are not worth sorting.
constexpr std::size_t kFewRows = 8;

/// Sizes of the joined tables of these rows. False if they would be too large.
bool prepare_joining(const AodePlan& plan, AodeBlock& block) {
  const std::size_t n_groups = plan.n_groups();
  std::uint64_t cells = 0;
  block.strides.resize(plan.n_features());
  block.group_offsets.resize(n_groups);
  for (std::size_t g = 0; g < n_groups; ++g) {
    block.group_offsets[g] = static_cast<std::uint32_t>(cells);
    std::uint64_t joint = plan.width;
    for (std::uint32_t i = plan.groups[g]; i < plan.groups[g + 1]; ++i) {
      block.strides[i] = static_cast<std::uint32_t>(joint);
      joint *= plan.cardinalities[i] + block.has_missing[i];
    }
    cells += joint;
    if (cells > kMaxJoinedCells) return false;
  }
  block.joined_cells = static_cast<std::size_t>(cells);
  const std::size_t most_slots =
      plan.n_features() == 0 ? 0 : *std::max_element(plan.cardinalities.begin(), plan.cardinalities.end()) + 1;
  block.joined.resize(block.joined_cells + most_slots * plan.width);
  return true;
}

/// Where every row reads the joined tables. In tiles of rows, so that those written side by side stay in cache.
void find_offsets(const AodePlan& plan, AodeBlock& block) {
  constexpr std::size_t kTile = 64;
  const std::size_t n_groups = plan.n_groups();
  block.offsets.resize(block.rows * n_groups);
  for (std::size_t first = 0; first < block.rows; first += kTile) {
    const std::size_t count = std::min(kTile, block.rows - first);
    for (std::size_t g = 0; g < n_groups; ++g) {
      std::uint32_t tile[kTile];
      std::fill_n(tile, kTile, block.group_offsets[g]);
      for (std::uint32_t i = plan.groups[g]; i < plan.groups[g + 1]; ++i) {
        const std::uint16_t* slots = block.slots_of(i) + first;
        const std::uint32_t stride = block.strides[i];
        for (std::size_t row = 0; row < count; ++row) tile[row] += slots[row] * stride;
      }
      std::uint32_t* to = block.offsets.data() + first * n_groups + g;
      for (std::size_t row = 0; row < count; ++row) to[row * n_groups] = tile[row];
    }
  }
}

/// Rows by the slot that a feature has in them, ascending within a slot.
class SortedRows {
 public:
  void sort(const std::uint16_t* slots, std::size_t rows, std::size_t n_slots) {
    begins_.assign(n_slots + 2, 0);
    order_.resize(rows);
    if (n_slots <= kFewSlots)
      for (std::size_t k = 0; k < n_slots; ++k) begins_[k + 2] = count_of(slots, rows, static_cast<std::uint16_t>(k));
    else
      for (std::size_t row = 0; row < rows; ++row) ++begins_[slots[row] + 2];
    for (std::size_t k = 2; k < begins_.size(); ++k) begins_[k] += begins_[k - 1];
    for (std::size_t row = 0; row < rows; ++row) order_[begins_[slots[row] + 1]++] = static_cast<std::uint32_t>(row);
  }
  std::span<const std::uint32_t> with(std::size_t slot) const {
    return std::span(order_).subspan(begins_[slot], begins_[slot + 1] - begins_[slot]);
  }

 private:
  // With few slots most rows would wait for the count that the row before has just changed.
  static constexpr std::size_t kFewSlots = 16;

  static std::uint32_t count_of(const std::uint16_t* slots, std::size_t rows, std::uint16_t slot) {
    static_assert(kMaxBlockRows <= std::numeric_limits<std::uint16_t>::max());
    std::uint16_t count = 0;  // as wide as the slots, for vector code
    for (std::size_t row = 0; row < rows; ++row) count = static_cast<std::uint16_t>(count + (slots[row] == slot));
    return count;
  }

  std::vector<std::uint32_t> begins_, order_;
};

/// Adds all models to the sums of a block.
class Averaging {
 public:
  Averaging(const Aode& aode, const AodePlan& plan, AodeBlock& block, Isa isa)
      : plan_(plan), block_(block), pairs_(aode.pairs().data()), isa_(isa) {}

  void add_all_models() {
    const bool few = block_.rows < kFewRows;
    can_join_ = !few && prepare_joining(plan_, block_);
    if (can_join_) find_offsets(plan_, block_);
    for (std::size_t p = 0; p < plan_.n_features(); ++p) {
      if (few)
        add_few_rows(p);
      else
        add_super_parent(p);
      pairs_ += plan_.cardinalities[p] * stride(p);
    }
  }

 private:
  std::size_t stride(std::size_t parent) const {
    return (plan_.first_values.back() - plan_.cardinalities[parent]) * plan_.n_classes;
  }
  bool is_eligible(std::size_t value) const { return plan_.eligible.empty() || plan_.eligible[value]; }

  AodeModel model(std::size_t parent, std::size_t v) const {
    return {plan_, block_, parent, plan_.first_values[parent] + v, pairs_ + v * stride(parent)};
  }

  // A missing super-parent is summed over its values; where a minimum is asked for, it is left out.
  void add_super_parent(std::size_t parent) {
    const std::size_t values = plan_.cardinalities[parent];
    sorted_.sort(block_.slots_of(parent), block_.rows, values + 1);
    const auto missing = plan_.eligible.empty() ? sorted_.with(values) : std::span<const std::uint32_t>{};
    for (std::size_t v = 0; v < values; ++v) {
      const auto rows = sorted_.with(v);
      const AodeModel m = model(parent, v);
      const std::size_t n_rows = rows.size() + missing.size();
      if (n_rows == 0 || !is_eligible(m.value)) continue;
      const bool joined = can_join_ && joining_pays(n_rows);
      if (joined) join_tables(m, isa_);
      add_model(m, rows, joined, isa_);
      add_model(m, missing, joined, isa_);
    }
  }

  void add_few_rows(std::size_t parent) {
    const std::size_t values = plan_.cardinalities[parent];
    for (std::uint32_t row = 0; row < block_.rows; ++row) {
      const std::size_t slot = block_.slots_of(parent)[row];
      const bool missing = slot == values;
      if (missing && !plan_.eligible.empty()) continue;
      for (std::size_t v = missing ? 0 : slot; v < (missing ? values : slot + 1); ++v) {
        const AodeModel m = model(parent, v);
        if (is_eligible(m.value)) add_model(m, {&row, 1}, false, isa_);
      }
    }
  }

  /// Joined tables give the same bits as those of the features one by one; making them takes time that only many rows
  /// give back.
  bool joining_pays(std::size_t n_rows) const {
    return block_.joined_cells <= n_rows * plan_.n_features() * plan_.width;
  }

  const AodePlan& plan_;
  AodeBlock& block_;
  const double* pairs_;
  Isa isa_;
  bool can_join_ = false;
  SortedRows sorted_;
};

void count_models(const AodePlan& plan, AodeBlock& block) {
  if (plan.eligible.empty()) {
    block.n_models.assign(block.rows, static_cast<std::uint32_t>(plan.n_features()));
    return;
  }
  block.n_models.assign(block.rows, 0);
  for (std::size_t p = 0; p < plan.n_features(); ++p) {
    const std::uint16_t* slots = block.slots_of(p);
    const std::uint8_t* eligible = plan.eligible.data() + plan.first_values[p];
    for (std::size_t row = 0; row < block.rows; ++row)
      if (slots[row] < plan.cardinalities[p]) block.n_models[row] += eligible[slots[row]];
  }
}

/// Naive Bayes for a row without any super-parent.
void naive_row(const Aode& aode, const AodePlan& plan, AodeBlock& block, std::size_t row) {
  for (std::size_t c = 0; c < plan.n_classes; ++c) {
    double product = plan.prior[c], power = plan.scaled ? plan.prior_powers[c] : 0.0;
    for (std::size_t k = 0; k + 1 < plan.chunks.size(); ++k) {
      for (std::size_t i = plan.groups[plan.chunks[k]]; i < plan.groups[plan.chunks[k + 1]]; ++i) {
        const std::size_t slot = block.slots_of(i)[row];
        if (slot < plan.cardinalities[i]) product *= aode.single(i)[slot * plan.n_classes + c];
      }
      if (plan.scaled) take_power<1>(&product, &power);
    }
    const std::size_t at = row * plan.width + c;
    if (plan.scaled)
      add_scaled<1>(&product, &power, &block.sums[at], &block.powers[at]);
    else
      block.sums[at] = product;
  }
}

}  // namespace

std::size_t aode_block_rows(const AodePlan& plan) {
  const std::size_t sums = plan.width * sizeof(double) * (plan.scaled ? 2 : 1);
  const std::size_t codes = plan.n_features() * sizeof(std::uint16_t) + plan.n_groups() * sizeof(std::uint32_t);
  return std::clamp<std::size_t>(kBlockBytes / (codes + sums), 64, kMaxBlockRows);
}

void average_block(const Aode& aode, const AodePlan& plan, AodeBlock& block, Isa isa) {
  block.sums.assign(block.rows * plan.width, 0.0);
  if (plan.scaled) block.powers.assign(block.rows * plan.width, kPowerOfZero);
  count_models(plan, block);
  Averaging(aode, plan, block, isa).add_all_models();
  for (std::size_t row = 0; row < block.rows; ++row)
    if (block.n_models[row] == 0) naive_row(aode, plan, block, row);
}

}  // namespace tanager::internal
