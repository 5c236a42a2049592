// The tables of averaged one-dependence estimators. Those of one value of one super-parent lie together, children one
// after the other: the order in which prediction reads them.
#include "tanager/aode.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "aode/size.hpp"
#include "model/distributions.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

void check_size(const char* what, std::uint64_t expected, std::size_t actual) {
  if (expected != actual) throw InvalidInput(join_text(what, " must have ", expected, " cells, got ", actual));
}

void check_sizes(std::span<const std::uint32_t> cards, std::size_t n_classes, std::size_t singles, std::size_t pairs,
                 std::size_t value_counts) {
  check_cardinalities(cards, n_classes);
  const std::uint64_t values = std::accumulate(cards.begin(), cards.end(), std::uint64_t{0});
  const auto classes = static_cast<std::uint32_t>(n_classes);
  check_size("the tables of single features", values * classes, singles);
  check_size("the tables of pairs", checked_aode_pair_cells(cards, classes), pairs);
  check_size("the counts of values", values, value_counts);
}

}  // namespace

Aode::Aode(std::vector<std::uint32_t> cardinalities, std::vector<double> class_probabilities,
           std::vector<double> singles, std::vector<double> pairs, std::vector<double> value_counts, double min_count) {
  const std::size_t n = cardinalities.size(), n_classes = class_probabilities.size();
  check_sizes(cardinalities, n_classes, singles.size(), pairs.size(), value_counts.size());
  check_distributions(class_probabilities, n_classes, 1, [] { return std::string("the class probabilities"); });
  if (!(min_count >= 0 && std::isfinite(min_count)))
    throw InvalidInput(join_text("min_count: expected a finite number >= 0, got ", min_count));
  for (const double weight : value_counts)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw InvalidInput(join_text("counts of values must be finite and non-negative, got ", weight));

  std::vector<std::size_t> first_values{0}, pair_offsets{0};
  for (const std::uint32_t r : cardinalities) first_values.push_back(first_values.back() + r);
  for (const std::uint32_t r : cardinalities)
    pair_offsets.push_back(pair_offsets.back() + r * (first_values.back() - r) * n_classes);
  tables_ = std::make_shared<const Tables>(Tables{std::move(cardinalities), std::move(class_probabilities),
                                                  std::move(singles), std::move(pairs), std::move(value_counts),
                                                  min_count, std::move(first_values), std::move(pair_offsets)});

  for (std::size_t f = 0; f < n; ++f)
    check_distributions(single(f), this->cardinalities()[f], n_classes,
                        [&] { return join_text("the table of feature ", f); });
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t value = 0; value < this->cardinalities()[p]; ++value)
      for (std::size_t i = 0; i < n; ++i)
        if (i != p)
          check_distributions(pair(p, value, i), this->cardinalities()[i], n_classes,
                              [&] { return join_text("the table of feature ", i, " given feature ", p); });
}

std::span<const double> Aode::single(std::size_t feature) const {
  const std::size_t n_classes = this->n_classes();
  return singles().subspan(tables_->first_values[feature] * n_classes, cardinalities()[feature] * n_classes);
}

std::span<const double> Aode::pair(std::size_t parent, std::size_t value, std::size_t child) const {
  const std::size_t n_classes = this->n_classes(), own = cardinalities()[parent];
  const std::size_t stride = (tables_->first_values.back() - own) * n_classes;
  const std::size_t before = tables_->first_values[child] - (child > parent ? own : 0);
  return pairs().subspan(tables_->pair_offsets[parent] + value * stride + before * n_classes,
                         cardinalities()[child] * n_classes);
}

std::span<const double> Aode::value_counts(std::size_t feature) const {
  return value_counts().subspan(tables_->first_values[feature], cardinalities()[feature]);
}

std::uint64_t Aode::n_parameters() const {
  const std::uint64_t n = n_features(), n_classes = this->n_classes();
  std::uint64_t total = n_classes - 1, free_values = 0;
  for (const std::uint32_t r : cardinalities()) free_values += r - 1;
  for (const std::uint32_t r : cardinalities()) total += n_classes * ((r - 1) + r * (free_values - (r - 1)));
  return n == 0 ? n_classes - 1 : total;
}

}  // namespace tanager
