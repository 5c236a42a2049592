#include "inference/junction_plan.hpp"

#include <algorithm>
#include <utility>

#include "model/distributions.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager::internal {

FamilyScopes::FamilyScopes(const Structure& structure, std::vector<std::uint32_t> cardinalities,
                           std::uint32_t n_classes)
    : cardinalities_(std::move(cardinalities)), n_classes_(n_classes), order_(structure.order()), first_{0} {
  const auto add = [&](std::span<const std::size_t> features) {
    std::size_t cells = n_classes_;
    for (std::size_t i = features.size(); i-- > 0; cells *= cardinalities_[features[i]])
      members_.push_back({features[i], static_cast<std::uint32_t>(cells)});
    std::reverse(members_.begin() + static_cast<std::ptrdiff_t>(first_.back()), members_.end());
    first_.push_back(members_.size());
    return cells;
  };
  if (structure.n_features() != n_features())
    throw InvalidInput(
        join_text("expected the number of values of ", structure.n_features(), " features, got ", n_features()));
  check_cardinalities(cardinalities_, n_classes_);
  std::vector<std::size_t> family;
  for (std::size_t f = 0; f < n_features(); ++f) {
    family.clear();
    if (!structure.is_absent(f)) {
      checked_table_size(structure.family(f), cardinalities_, n_classes_);
      family = structure.parents(f);
      family.push_back(f);
    }
    const std::size_t cells = add(family);
    table_sizes_.push_back(family.empty() ? 0 : cells);
  }
  if (const auto of_class = structure.class_family()) checked_table_size(*of_class, cardinalities_, n_classes_);
  table_sizes_.push_back(add(structure.class_parents()));

  std::vector<bool> related(n_features(), false);
  for (std::size_t f = 0; f <= n_features(); ++f)
    if (members(f).size() > 1 || f == n_features())
      for (const Member& member : members(f)) related[member.feature] = true;
  for (const std::size_t f : order_) (related[f] ? connected_ : isolated_).push_back(f);
}

}  // namespace tanager::internal
