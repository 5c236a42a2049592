#include "tanager/network.hpp"

#include <string>
#include <utility>

#include "model/distributions.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"

namespace tanager {

Network::Network(Structure structure, std::vector<std::uint32_t> cardinalities, std::vector<double> class_probabilities,
                 std::vector<std::vector<double>> tables)
    : structure_(std::move(structure)),
      cardinalities_(std::move(cardinalities)),
      class_probabilities_(std::move(class_probabilities)),
      tables_(std::move(tables)) {
  const std::size_t n = structure_.n_features();
  if (cardinalities_.size() != n || tables_.size() != n)
    throw InvalidInput(join_text("expected the number of values and the table of ", n, " features, but got ",
                                 cardinalities_.size(), " and ", tables_.size()));
  if (class_probabilities_.empty() || class_probabilities_.size() > kMaxValues)
    throw InvalidInput(join_text("expected 1 to ", kMaxValues, " classes, but got ", class_probabilities_.size()));
  check_distributions(class_probabilities_, class_probabilities_.size(), 1,
                      [] { return std::string("the class probabilities"); });
  for (std::size_t f = 0; f < n; ++f) {
    if (cardinalities_[f] == 0 || cardinalities_[f] > kMaxValues)
      throw InvalidInput(
          join_text("feature ", f, " must have 1 to ", kMaxValues, " values, but has ", cardinalities_[f]));
  }
  for (std::size_t f = 0; f < n; ++f) {
    const std::uint64_t expected =
        structure_.is_absent(f) ? 0 : checked_table_size(structure_.family(f), cardinalities_, n_classes());
    if (tables_[f].size() != expected)
      throw InvalidInput(
          join_text("the table of feature ", f, " must have ", expected, " cells, but has ", tables_[f].size()));
    check_distributions(tables_[f], cardinalities_[f], n_classes(),
                        [&] { return join_text("the table of feature ", f); });
  }
}

std::uint64_t Network::n_parameters() const {
  std::uint64_t total = n_classes() - 1;
  for (std::size_t f = 0; f < n_features(); ++f)
    total += tables_[f].size() / cardinalities_[f] * (cardinalities_[f] - 1);
  return total;
}

}  // namespace tanager
