#include <algorithm>
#include <string>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/structure.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Throws unless the parents of one variable exist, differ and are not too many; `child()` is what messages call it.
template <class Describe>
void check_parent_set(std::vector<std::size_t> parents, std::size_t n_features, const Describe& child) {
  if (parents.size() > kMaxParents)
    throw InvalidInput(
        join_text(child(), " has ", parents.size(), " parents, but at most ", kMaxParents, " are possible"));
  std::sort(parents.begin(), parents.end());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] >= n_features)
      throw InvalidInput(
          join_text(child(), " has parent ", parents[i], ", but there are only ", n_features, " features"));
    if (i > 0 && parents[i] == parents[i - 1])
      throw InvalidInput(join_text(child(), " has parent ", parents[i], " twice"));
  }
}

void check_parents(const std::vector<std::vector<std::size_t>>& parents) {
  for (std::size_t child = 0; child < parents.size(); ++child) {
    if (parents[child].empty()) continue;
    check_parent_set(parents[child], parents.size(), [&] { return join_text("feature ", child); });
    if (std::find(parents[child].begin(), parents[child].end(), child) != parents[child].end())
      throw InvalidInput(join_text("feature ", child, " cannot be its own parent"));
  }
}

void check_absent(const std::vector<std::vector<std::size_t>>& parents, const std::vector<bool>& absent) {
  if (absent.size() != parents.size())
    throw InvalidInput(
        join_text("expected a mark of absence for each of ", parents.size(), " features, got ", absent.size()));
  for (std::size_t child = 0; child < parents.size(); ++child) {
    if (absent[child] && !parents[child].empty())
      throw InvalidInput(join_text("feature ", child, " is absent, but has parents"));
    for (const std::size_t parent : parents[child])
      if (absent[parent]) throw InvalidInput(join_text("feature ", child, " has parent ", parent, ", which is absent"));
  }
}

struct Order {
  std::vector<std::size_t> features;
  std::size_t class_position = 0;
};

// Depth first with an explicit stack (a chain of 60,000 features must not overflow the call stack): a feature is placed
// as soon as its last parent is, so that a tree's branches stay together. A class with parents takes part as the node
// behind the last feature; `arcs` then names it where it is a parent.
Order topological_order(const std::vector<std::vector<std::size_t>>& arcs, std::size_t n_features,
                        const std::vector<bool>& absent) {
  const std::size_t n = arcs.size();
  std::vector<std::vector<std::size_t>> children(n);
  std::vector<std::size_t> waiting(n);
  for (std::size_t child = 0; child < n; ++child) {
    waiting[child] = arcs[child].size();
    for (const std::size_t parent : arcs[child]) children[parent].push_back(child);
  }
  const auto is_absent = [&](std::size_t node) { return node < absent.size() && absent[node]; };
  Order order;
  order.features.reserve(n_features);
  std::vector<std::size_t> stack;
  std::size_t placed = 0;
  for (std::size_t root = n; root-- > 0;)
    if (arcs[root].empty() && !is_absent(root)) stack.push_back(root);
  while (!stack.empty()) {
    const std::size_t node = stack.back();
    stack.pop_back();
    ++placed;
    if (node < n_features)
      order.features.push_back(node);
    else
      order.class_position = order.features.size();
    for (auto child = children[node].rbegin(); child != children[node].rend(); ++child)
      if (--waiting[*child] == 0) stack.push_back(*child);
  }
  if (placed + static_cast<std::size_t>(std::count(absent.begin(), absent.end(), true)) < n) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t count) { return count > 0; });
    throw InvalidInput(join_text("expected arcs without cycles, got a cycle through feature ", stuck - waiting.begin(),
                                 " or its ancestors"));
  }
  return order;
}

}  // namespace

Structure::Structure(std::vector<std::vector<std::size_t>> parents) : parents_(std::move(parents)) {
  check_parents(parents_);
  order_ = topological_order(parents_, parents_.size(), absent_).features;
}

Structure Structure::leaving_out(std::vector<bool> absent, std::vector<std::vector<std::size_t>> parents) {
  const std::size_t n = parents.size();
  return general(std::move(parents), std::vector<bool>(n, true), {}, std::move(absent));
}

Structure Structure::general(std::vector<std::vector<std::size_t>> parents, std::vector<bool> class_children,
                             std::vector<std::size_t> class_parents, std::vector<bool> absent) {
  const std::size_t n = parents.size();
  check_parents(parents);
  check_parent_set(class_parents, n, [] { return std::string("the class"); });
  if (class_children.size() != n)
    throw InvalidInput(join_text("expected a mark of the children of the class for each of ", n, " features, got ",
                                 class_children.size()));
  if (!absent.empty()) check_absent(parents, absent);
  if (std::find(absent.begin(), absent.end(), true) == absent.end()) absent.clear();
  for (const std::size_t parent : class_parents)
    if (!absent.empty() && absent[parent])
      throw InvalidInput(join_text("the class has parent ", parent, ", which is absent"));
  std::sort(class_parents.begin(), class_parents.end());
  Structure structure;
  structure.not_class_children_ = std::move(class_children);
  structure.not_class_children_.flip();
  for (std::size_t f = 0; f < absent.size(); ++f)
    if (absent[f]) structure.not_class_children_[f] = false;  // so that equal structures are equal in every member
  auto& others = structure.not_class_children_;
  if (std::find(others.begin(), others.end(), true) == others.end()) others.clear();
  structure.parents_ = std::move(parents);
  structure.absent_ = std::move(absent);
  structure.class_parents_ = std::move(class_parents);

  std::vector<std::vector<std::size_t>> arcs = structure.parents_;
  if (!structure.class_parents_.empty()) {
    for (std::size_t f = 0; f < n; ++f)
      if (structure.is_class_child(f)) arcs[f].push_back(n);
    arcs.push_back(structure.class_parents_);
  }
  Order order = topological_order(arcs, n, structure.absent_);
  structure.order_ = std::move(order.features);
  structure.class_position_ = order.class_position;
  return structure;
}

std::optional<Family> Structure::class_family() const {
  if (class_parents_.empty()) return std::nullopt;
  return Family{class_parents_.back(), {class_parents_.begin(), class_parents_.end() - 1}};
}

Structure Structure::naive(std::size_t n_features) {
  return Structure(std::vector<std::vector<std::size_t>>(n_features));
}

std::size_t Structure::max_parents() const {
  std::size_t most = 0;
  for (const auto& parents : parents_) most = std::max(most, parents.size());
  return most;
}

bool Structure::is_tan() const {
  if (!is_one_dependence()) return false;
  return std::count_if(order_.begin(), order_.end(), [&](std::size_t f) { return parents_[f].empty(); }) == 1;
}

bool Structure::is_semi_naive() const {
  if (!is_augmented_naive()) return false;
  // In a fully connected group the k-th member in order has exactly the k earlier members as parents. So the parents of
  // a feature must be its last parent together with that parent's own parents, and no two children may follow one
  // parent.
  std::vector<std::size_t> position(n_features());
  for (std::size_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  std::vector<bool> followed(n_features(), false);
  for (std::size_t child = 0; child < n_features(); ++child) {
    if (parents_[child].empty()) continue;
    const std::size_t last = *std::max_element(parents_[child].begin(), parents_[child].end(),
                                               [&](std::size_t a, std::size_t b) { return position[a] < position[b]; });
    if (followed[last]) return false;
    followed[last] = true;
    std::vector<std::size_t> expected = parents_[last], actual = parents_[child];
    expected.push_back(last);
    std::sort(expected.begin(), expected.end());
    std::sort(actual.begin(), actual.end());
    if (expected != actual) return false;
  }
  return true;
}

}  // namespace tanager
