// With L_c = ln P(c) + sum of the logarithms that a row looks up, the derivative of ln P(truth | row) by L_c is
// [c is the truth] - P(c | row), and that by a cell is the sum over the rows that look it up.
#include "rows/complete_rows.hpp"

#include <algorithm>
#include <cmath>

#include "simd/for_isa.hpp"
#include "simd/vector_exp.hpp"
#include "simd/with_constant.hpp"
#include "support/infinity.hpp"

namespace tanager::internal {
namespace {

// Rows at a time: their logarithms stay in the nearest cache while all groups add to them.
constexpr std::size_t kBlockRows = 128;
// A group may have so many joint values; the largest is taken whose tables cost little beside the rows.
constexpr std::size_t kJointValues[] = {1024, 512, 256, 128, 64, 32, 16, 1};
constexpr std::size_t kMostCells = std::size_t{1} << 16;  // of all groups together: half a megabyte
// Padding lanes lie so far below all others that they weigh nothing, yet nothing is subnormal.
constexpr double kFarBelow = -700.0;

/// What one block of rows works on.
struct Lookups {
  const std::uint32_t* index;  // of the first row in the first group
  std::size_t stride;          // to the next group
  std::size_t groups, rows, width, classes;
  const std::uint16_t* truth;
  const double* weights;
};

template <std::size_t kWidth>
TANAGER_ALWAYS_INLINE void add_up(const Lookups& at, const double* cells, double* sums) {
  const std::size_t width = kWidth > 0 ? kWidth : at.width;
  for (std::size_t row = 0; row < at.rows; ++row) {
    double* sum = sums + row * width;
    for (std::size_t c = 0; c < width; ++c) sum[c] = c < at.classes ? 0.0 : 2 * kFarBelow;
  }
  for (std::size_t g = 0; g < at.groups; ++g) {
    const std::uint32_t* index = at.index + g * at.stride;
    for (std::size_t row = 0; row < at.rows; ++row) {
      const double* term = cells + index[row];
      double* sum = sums + row * width;
      for (std::size_t c = 0; c < width; ++c) sum[c] += term[c];
    }
  }
}

/// Logarithms to weights times derivatives, in place.
template <std::size_t kWidth>
TANAGER_ALWAYS_INLINE void evaluate_rows(const Lookups& at, double* sums, RowEvaluation& evaluation) {
  const std::size_t width = kWidth > 0 ? kWidth : at.width;
  double shifts[kBlockRows];
  for (std::size_t row = 0; row < at.rows; ++row) {
    double* sum = sums + row * width;
    double largest = sum[0];
    std::size_t best = 0;
    for (std::size_t c = 1; c < at.classes; ++c)
      if (sum[c] > largest) {
        largest = sum[c];
        best = c;
      }
    shifts[row] = sum[at.truth[row]] - largest;
    for (std::size_t c = 0; c < width; ++c) {
      const double below = sum[c] - largest;
      sum[c] = below < kFarBelow ? kFarBelow : below;
    }
    evaluation.wrong += best == at.truth[row] ? 0.0 : at.weights == nullptr ? 1.0 : at.weights[row];
  }
  for (std::size_t i = 0; i < at.rows * width; ++i) sums[i] = vector_exp_in_range(sums[i]);
  for (std::size_t row = 0; row < at.rows; ++row) {
    double* p = sums + row * width;
    double total = 0;
    for (std::size_t c = 0; c < width; ++c) total += p[c];
    const double weight = at.weights == nullptr ? 1.0 : at.weights[row];
    if (shifts[row] == kMinusInfinity) {  // the given class prior says that there is no such row: nothing can help
      std::fill_n(p, width, 0.0);
      continue;
    }
    evaluation.value += weight * (shifts[row] - std::log(total));
    const double scale = -weight / total;
    for (std::size_t c = 0; c < width; ++c) p[c] *= scale;
    p[at.truth[row]] += weight;
  }
}

template <std::size_t kWidth>
TANAGER_ALWAYS_INLINE void spread_slopes(const Lookups& at, const double* sums, double* slopes) {
  const std::size_t width = kWidth > 0 ? kWidth : at.width;
  for (std::size_t g = 0; g < at.groups; ++g) {
    const std::uint32_t* index = at.index + g * at.stride;
    for (std::size_t row = 0; row < at.rows; ++row) {
      double* slope = slopes + index[row];
      const double* sum = sums + row * width;
      for (std::size_t c = 0; c < width; ++c) slope[c] += sum[c];
    }
  }
}

TANAGER_ALWAYS_INLINE void work_on(const Lookups& at, const double* cells, double* sums, double* slopes,
                                   RowEvaluation& evaluation) {
  with_constant<2, 4, 8>(at.width, [&](auto width) TANAGER_ALWAYS_INLINE_LAMBDA {
    add_up<width>(at, cells, sums);
    evaluate_rows<width>(at, sums, evaluation);
    if (slopes != nullptr) spread_slopes<width>(at, sums, slopes);
  });
}

}  // namespace

CompleteRows::CompleteRows(const SoftmaxFamilies& families, const Dataset& data, std::span<const std::size_t> rows)
    : families_(families), padded_(padded_classes(static_cast<std::uint32_t>(families.n_classes()), 4)) {
  std::vector<std::size_t> terms;  // families, but those that do not know the class
  for (std::size_t b = 0; b < families.blocks().size(); ++b)
    if (families.blocks()[b].knows_class) terms.push_back(b);
  const auto members_of = [&](std::size_t b) -> const auto& { return families.blocks()[b].members; };
  for (const std::size_t limit : kJointValues) {
    groups_ = join_lookups(terms, families.cardinalities(), members_of, limit);
    n_cells_ = place_groups(groups_, padded_);
    std::size_t additions = 0;
    for (const LookupGroup& group : groups_) additions += group.size * group.terms.size();
    if (limit == 1 || (n_cells_ <= kMostCells && additions <= rows.size() * groups_.size() / 4)) break;
  }
  for (const LookupGroup& group : groups_) cell_of_.push_back(number_cells(group));
  index_.resize(groups_.size() * rows.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::span<std::uint32_t> own = std::span(index_).subspan(g * rows.size(), rows.size());
    std::ranges::fill(own, std::uint32_t{0});
    for (const LookupGroup::Member& member : groups_[g].members) {
      const Column& column = data.feature(member.feature);
      const auto r = static_cast<std::uint32_t>(column.n_values());
      for (std::size_t i = 0; i < rows.size(); ++i) own[i] = own[i] * r + column[rows[i]];
    }
    const auto offset = static_cast<std::uint32_t>(groups_[g].offset), width = static_cast<std::uint32_t>(padded_);
    for (std::uint32_t& cell : own) cell = offset + cell * width;
  }
  for (const std::size_t row : rows) {
    classes_.push_back(data.target()[row]);
    if (data.is_weighted()) weights_.push_back(data.weights()[row]);
  }
}

/// [family][joint value], the last member counting fastest: the cell of the family.
std::vector<std::uint32_t> CompleteRows::number_cells(const LookupGroup& group) const {
  const auto& cards = families_.cardinalities();
  std::vector<std::uint32_t> cell_of;
  std::vector<std::size_t> value_of(cards.size());
  for (const std::size_t b : group.terms) {
    const FamilyBlock& block = families_.blocks()[b];
    for (std::size_t joint = 0; joint < group.size; ++joint) {
      std::size_t rest = joint, cell = 0;
      for (std::size_t m = group.members.size(); m-- > 0;) {
        const std::size_t f = group.members[m].feature;
        value_of[f] = rest % cards[f];
        rest /= cards[f];
      }
      for (const std::size_t f : block.members) cell = cell * cards[f] + value_of[f];
      cell_of.push_back(static_cast<std::uint32_t>(cell));
    }
  }
  return cell_of;
}

std::vector<double> CompleteRows::joined(std::span<const double> logs) const {
  const std::size_t n_classes = families_.n_classes();
  std::vector<double> cells(n_cells_, 0.0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const LookupGroup& group = groups_[g];
    for (std::size_t b = 0; b < group.terms.size(); ++b) {
      const double* from = logs.data() + families_.blocks()[group.terms[b]].expanded;
      const std::uint32_t* cell_of = cell_of_[g].data() + b * group.size;
      for (std::size_t joint = 0; joint < group.size; ++joint) {
        double* to = cells.data() + group.offset + joint * padded_;
        for (std::size_t c = 0; c < n_classes; ++c) to[c] += from[cell_of[joint] * n_classes + c];
      }
    }
  }
  return cells;
}

void CompleteRows::split(std::span<const double> slopes, std::span<double> expanded) const {
  const std::size_t n_classes = families_.n_classes();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const LookupGroup& group = groups_[g];
    for (std::size_t b = 0; b < group.terms.size(); ++b) {
      double* to = expanded.data() + families_.blocks()[group.terms[b]].expanded;
      const std::uint32_t* cell_of = cell_of_[g].data() + b * group.size;
      for (std::size_t joint = 0; joint < group.size; ++joint) {
        const double* from = slopes.data() + group.offset + joint * padded_;
        for (std::size_t c = 0; c < n_classes; ++c) to[cell_of[joint] * n_classes + c] += from[c];
      }
    }
  }
}

RowEvaluation CompleteRows::evaluate(std::span<const double> cells, std::size_t begin, std::size_t end,
                                     std::span<double> slopes, Isa isa) const {
  RowEvaluation evaluation;
  std::vector<double> sums(kBlockRows * padded_);
  for (std::size_t row = begin; row < end; row += kBlockRows) {
    const Lookups at{index_.data() + row,
                     n_rows(),
                     groups_.size(),
                     std::min(kBlockRows, end - row),
                     padded_,
                     families_.n_classes(),
                     classes_.data() + row,
                     weights_.empty() ? nullptr : weights_.data() + row};
    for_isa<work_on>(isa, at, cells.data(), sums.data(), slopes.empty() ? nullptr : slopes.data(), evaluation);
  }
  return evaluation;
}

}  // namespace tanager::internal
