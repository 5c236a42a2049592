#include "tanager/network.hpp"

#include <string>
#include <utility>

#include "model/distributions.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

template <class Describe>
void check_size(std::uint64_t expected, std::size_t actual, const Describe& what) {
  if (actual != expected) throw InvalidInput(join_text(what(), " must have ", expected, " cells, got ", actual));
}

}  // namespace

Network::Network(Structure structure, std::vector<std::uint32_t> cardinalities,
                 const std::vector<double>& class_probabilities, std::vector<std::vector<double>> tables)
    : Network(std::move(structure), std::move(cardinalities), static_cast<std::uint32_t>(class_probabilities.size()),
              class_probabilities, std::move(tables)) {}

Network::Network(Structure structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes,
                 std::vector<double> class_table, std::vector<std::vector<double>> tables)
    : structure_(std::move(structure)),
      cardinalities_(std::move(cardinalities)),
      n_classes_(n_classes),
      class_table_(std::move(class_table)),
      tables_(std::move(tables)) {
  const std::size_t n = structure_.n_features();
  if (cardinalities_.size() != n || tables_.size() != n)
    throw InvalidInput(join_text("expected the number of values and the table of ", n, " features, got ",
                                 cardinalities_.size(), " and ", tables_.size()));
  check_cardinalities(cardinalities_, n_classes_);
  const auto family = structure_.class_family();
  const auto the_class = [] { return std::string("the table of the class"); };
  check_size(family ? checked_table_size(*family, cardinalities_, n_classes_) : n_classes_, class_table_.size(),
             the_class);
  check_distributions(class_table_, n_classes_, 1, the_class);
  for (std::size_t f = 0; f < n; ++f) {
    const std::uint32_t width = structure_.is_class_child(f) ? n_classes_ : 1;
    const auto the_feature = [&] { return join_text("the table of feature ", f); };
    check_size(structure_.is_absent(f) ? 0 : checked_table_size(structure_.family(f), cardinalities_, width),
               tables_[f].size(), the_feature);
    check_distributions(tables_[f], cardinalities_[f], width, the_feature);
  }
}

std::vector<double> Network::expanded_table(std::size_t feature) const {
  const std::vector<double>& table = tables_[feature];
  if (structure_.is_class_child(feature)) return table;
  std::vector<double> expanded;
  expanded.reserve(table.size() * n_classes_);
  for (const double p : table) expanded.insert(expanded.end(), n_classes_, p);
  return expanded;
}

std::uint64_t Network::n_parameters() const {
  std::uint64_t total = class_table_.size() / n_classes_ * (n_classes_ - 1);
  for (std::size_t f = 0; f < n_features(); ++f)
    total += tables_[f].size() / cardinalities_[f] * (cardinalities_[f] - 1);
  return total;
}

}  // namespace tanager
