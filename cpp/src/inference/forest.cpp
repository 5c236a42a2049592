#include "inference/forest.hpp"

namespace tanager::internal {

Forest::Forest(const Structure& structure, std::span<const std::uint32_t> cardinalities, std::size_t n_classes)
    : n_features_(cardinalities.size()), n_classes_(n_classes) {
  std::vector<std::size_t> message(n_features_, 0);
  const auto make_node = [&](std::size_t feature, const std::vector<std::size_t>& parents) {
    ForestNode node{.feature = feature};
    if (!parents.empty()) {
      node.parent = parents.front();
      node.parent_values = cardinalities[node.parent];
      node.parent_message = message[node.parent];
    }
    return node;
  };
  std::vector<bool> has_children(n_features_, false);
  for (const std::size_t parent : structure.class_parents()) has_children[parent] = true;
  for (const std::size_t f : structure.order())
    for (const std::size_t parent : structure.parents(f)) has_children[parent] = true;
  // A feature without children hears nothing, and what is believed of it is read at once: all of them share a place.
  for (const std::size_t f : structure.order())
    if (!has_children[f]) message_size_ = std::max(message_size_, cardinalities[f] * n_classes);
  for (const std::size_t f : structure.order()) {
    ForestNode node = make_node(f, structure.parents(f));
    node.values = cardinalities[f];
    node.sum = sum_size_;
    sum_size_ += node.parent_values * n_classes;
    if (has_children[f]) {
      node.message = message[f] = message_size_;
      message_size_ += node.values * n_classes;
    }
    nodes_.push_back(node);
  }
  class_node_ = make_node(n_features_, structure.class_parents());
}

void Forest::resize(ForestState& state, bool beliefs) const {
  state.messages.resize(message_size_);
  state.sums.resize(sum_size_);
  if (beliefs) state.beliefs.resize(message_size_);
  state.shares.resize(n_classes_);
  state.heard.resize(n_features_);
}

}  // namespace tanager::internal
