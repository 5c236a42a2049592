// Lanes are classes, and every lane multiplies and adds in the plan's order, so vector width changes nothing. The loops
// are plain C++ compiled once per level.
#include "aode/kernel.hpp"

#include <algorithm>

#include "aode/lanes.hpp"
#include "simd/for_isa.hpp"

namespace tanager::internal {
namespace {

/// Where a feature's factors for one of its values begin.
TANAGER_ALWAYS_INLINE const double* factor_of(const AodeModel& model, std::size_t feature, std::size_t value) {
  const AodePlan& plan = model.plan;
  const std::size_t own = feature > model.parent ? plan.cardinalities[model.parent] : 0;
  return model.tables + (plan.first_values[feature] - own + value) * plan.n_classes;
}

/// Products of groups as they are looked up.
struct Joined {
  static constexpr bool kPadded = true;

  TANAGER_ALWAYS_INLINE explicit Joined(const AodeModel& model)
      : cells(model.block.joined.data()), offsets(model.block.offsets.data()), n_groups(model.plan.n_groups()) {}

  template <class L>
  TANAGER_ALWAYS_INLINE void multiply(std::size_t row, std::size_t first, std::size_t last, std::size_t lane,
                                      L& product) const {
    const std::uint32_t* at = offsets + row * n_groups;
    const double* from = cells + lane;
    for (std::size_t g = first; g < last; ++g) product.multiply(from + at[g]);
  }

  const double* cells;
  const std::uint32_t* offsets;
  std::size_t n_groups;
};

/// The same products, made factor by factor.
struct Separate {
  static constexpr bool kPadded = false;

  TANAGER_ALWAYS_INLINE explicit Separate(const AodeModel& m) : model(m) {}

  template <class L>
  TANAGER_ALWAYS_INLINE void multiply(std::size_t row, std::size_t first, std::size_t last, std::size_t lane,
                                      L& product) const {
    const AodePlan& plan = model.plan;
    for (std::size_t g = first; g < last; ++g) {
      L factor{};
      bool any = false;
      for (std::uint32_t i = plan.groups[g]; i < plan.groups[g + 1]; ++i) {
        const std::size_t slot = model.block.slots_of(i)[row];
        if (i == model.parent || slot == plan.cardinalities[i]) continue;
        const double* from = factor_of(model, i, slot) + lane;
        if (any)
          factor.multiply(from);
        else
          factor.load(from);
        any = true;
      }
      if (any) product.multiply(factor);
    }
  }

  const AodeModel& model;
};

template <class L, class Reader>
TANAGER_ALWAYS_INLINE void plain_loop(const AodeModel& model, std::span<const std::uint32_t> rows, std::size_t lane) {
  const Reader reader(model);
  const std::size_t width = model.plan.width, n_groups = model.plan.n_groups();
  double* sums = model.block.sums.data() + lane;
  L start;
  start.load(model.plan.start.data() + model.value * width + lane);
  for (const std::uint32_t row : rows) {
    L product = start;
    reader.multiply(row, 0, n_groups, lane, product);
    product.add_to(sums + row * width);
  }
}

/// The same for one vector of classes, four rows at a time: their products do not wait for each other.
template <class Vector>
TANAGER_ALWAYS_INLINE void narrow_loop(const AodeModel& model, std::span<const std::uint32_t> rows, std::size_t lane) {
  constexpr std::size_t kRows = 4;
  const Joined tables(model);
  const double* cells = tables.cells + lane;
  const std::size_t width = model.plan.width, n_groups = tables.n_groups;
  double* sums = model.block.sums.data() + lane;
  Vector start;
  load_vector(model.plan.start.data() + model.value * width + lane, start);
  std::size_t i = 0;
  for (; i + kRows <= rows.size(); i += kRows) {
    const std::uint32_t* at[kRows];
    Vector products[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      at[r] = tables.offsets + rows[i + r] * n_groups;
      products[r] = start;
    }
    for (std::size_t g = 0; g < n_groups; ++g)
      for (std::size_t r = 0; r < kRows; ++r) multiply_vector(cells + at[r][g], products[r]);
    for (std::size_t r = 0; r < kRows; ++r) add_vector(products[r], sums + rows[i + r] * width);
  }
  plain_loop<Lanes<Vector, 1>, Joined>(model, rows.subspan(i), lane);
}

/// Taking the power of two out of the product after every chunk.
template <class L, class Reader>
TANAGER_ALWAYS_INLINE void scaled_loop(const AodeModel& model, std::span<const std::uint32_t> rows, std::size_t lane) {
  const Reader reader(model);
  const AodePlan& plan = model.plan;
  const std::size_t start = model.value * plan.width + lane, n_chunks = plan.chunks.size() - 1;
  for (const std::uint32_t row : rows) {
    double number[L::kCount], power[L::kCount];
    std::copy_n(&plan.start[start], L::kCount, number);
    std::copy_n(&plan.start_powers[start], L::kCount, power);
    for (std::size_t k = 0; k < n_chunks; ++k) {
      L product;
      product.load(number);
      reader.multiply(row, plan.chunks[k], plan.chunks[k + 1], lane, product);
      product.store(number);
      take_power<L::kCount>(number, power);
    }
    const std::size_t to = std::size_t{row} * plan.width + lane;
    add_scaled<L::kCount>(number, power, &model.block.sums[to], &model.block.powers[to]);
  }
}

/// A feature's factors for all its slots, padded: those of the table, and ones where it is missing or is the
/// super-parent itself.
TANAGER_ALWAYS_INLINE void load_factors(const AodeModel& model, std::size_t feature, std::size_t slots, double* out) {
  const std::size_t n_classes = model.plan.n_classes, width = model.plan.width;
  const std::size_t values = feature == model.parent ? 0 : model.plan.cardinalities[feature];
  const double* from = factor_of(model, feature, 0);
  if (n_classes == width) {
    std::copy_n(from, values * n_classes, out);
  } else {
    for (std::size_t x = 0; x < values; ++x) {
      std::copy_n(from + x * n_classes, n_classes, out + x * width);
      std::fill(out + x * width + n_classes, out + (x + 1) * width, 0.0);
    }
  }
  for (std::size_t x = values; x < slots; ++x) {
    std::fill_n(out + x * width, n_classes, 1.0);
    std::fill(out + x * width + n_classes, out + (x + 1) * width, 0.0);
  }
}

/// to[i][...] = from[i][...] * factor[...] for rows of `width` doubles; both may be the same.
template <class Vector>
TANAGER_ALWAYS_INLINE void multiply_rows(const double* from, const double* factor, std::size_t rows, std::size_t width,
                                         double* to) {
  constexpr std::size_t kLanes = kLanesOf<Vector>;
  Vector product;
  if (width == kLanes) {
    Vector by;
    load_vector(factor, by);
    for (std::size_t i = 0; i < rows; ++i) {
      load_vector(from + i * kLanes, product);
      product *= by;
      store_vector(product, to + i * kLanes);
    }
    return;
  }
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < width; c += kLanes) {
      load_vector(from + i * width + c, product);
      multiply_vector(factor + c, product);
      store_vector(product, to + i * width + c);
    }
}

template <class Vector>
TANAGER_ALWAYS_INLINE void join_loop(const AodeModel& model) {
  const AodePlan& plan = model.plan;
  AodeBlock& block = model.block;
  const std::size_t width = plan.width;
  double* factors = block.joined.data() + block.joined_cells;  // room for those of one feature
  for (std::size_t g = 0; g < plan.n_groups(); ++g) {
    double* cells = block.joined.data() + block.group_offsets[g];
    std::size_t size = 0;  // joint slots of the members so far
    for (std::uint32_t i = plan.groups[g]; i < plan.groups[g + 1]; ++i) {
      const std::size_t slots = plan.cardinalities[i] + block.has_missing[i];
      if (size == 0) {
        load_factors(model, i, slots, cells);
        size = slots;
        continue;
      }
      load_factors(model, i, slots, factors);
      for (std::size_t x = slots; x-- > 0;)  // the first slot last: it replaces what the others are made of
        multiply_rows<Vector>(cells, factors + x * width, size, width, cells + x * size * width);
      size *= slots;
    }
  }
}

/// Some classes of one model, then on to the next.
template <Isa kIsa, class L, class Reader>
void add_lanes(const AodeModel& model, std::span<const std::uint32_t> rows, std::size_t& lane) {
  if (model.plan.scaled)
    compiled_for<kIsa, scaled_loop<L, Reader>>(model, rows, lane);
  else if (Reader::kPadded && L::kCount == L::kPerVector)
    compiled_for<kIsa, narrow_loop<typename L::Vector>>(model, rows, lane);
  else
    compiled_for<kIsa, plain_loop<L, Reader>>(model, rows, lane);
  lane += L::kCount;
}

/// All classes, in pieces as large as registers allow. Joined tables are padded; the others are not.
template <Isa kIsa, class Reader>
void add_classes(const AodeModel& model, std::span<const std::uint32_t> rows) {
  using Wide = VectorOf<kIsa>;
  constexpr std::size_t kLanes = kLanesOf<Wide>;
  const std::size_t end = Reader::kPadded ? model.plan.width : model.plan.n_classes;
  std::size_t lane = 0;
  while (lane + 4 * kLanes <= end) add_lanes<kIsa, Lanes<Wide, 4>, Reader>(model, rows, lane);
  if (lane + 3 * kLanes <= end) add_lanes<kIsa, Lanes<Wide, 3>, Reader>(model, rows, lane);
  if (lane + 2 * kLanes <= end) add_lanes<kIsa, Lanes<Wide, 2>, Reader>(model, rows, lane);
  if (lane + kLanes <= end) add_lanes<kIsa, Lanes<Wide, 1>, Reader>(model, rows, lane);
  if (lane + 2 <= end) add_lanes<kIsa, Lanes<Two, 1>, Reader>(model, rows, lane);
  if (lane < end) add_lanes<kIsa, Lanes<double, 1>, Reader>(model, rows, lane);
}

// Rows of a table are seldom long enough for vectors of eight, so AVX2 serves AVX-512 machines too.
constexpr Isa kMostIsa = Isa::kAvx2;

}  // namespace

void join_tables(const AodeModel& model, Isa isa) {
  with_isa<kMostIsa>(isa, [&]<Isa kIsa>() {
    if (model.plan.width == 1) return compiled_for<kIsa, join_loop<double>>(model);
    if (model.plan.width == 2) return compiled_for<kIsa, join_loop<Two>>(model);
    compiled_for<kIsa, join_loop<VectorOf<kIsa>>>(model);  // widths are multiples of four
  });
}

void add_model(const AodeModel& model, std::span<const std::uint32_t> rows, bool joined, Isa isa) {
  if (rows.empty()) return;
  with_isa<kMostIsa>(isa, [&]<Isa kIsa>() {
    joined ? add_classes<kIsa, Joined>(model, rows) : add_classes<kIsa, Separate>(model, rows);
  });
}

}  // namespace tanager::internal
