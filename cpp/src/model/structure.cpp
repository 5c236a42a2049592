#include <algorithm>
#include <numeric>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/network.hpp"

namespace tanager {
namespace {

void check_parents(const std::vector<std::vector<std::size_t>>& parents) {
  for (std::size_t child = 0; child < parents.size(); ++child) {
    if (parents[child].size() > kMaxParents)
      throw InvalidInput(join_text("feature ", child, " has ", parents[child].size(), " parents, but at most ",
                                   kMaxParents, " are possible"));
    std::vector<std::size_t> sorted = parents[child];
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] >= parents.size())
        throw InvalidInput(join_text("feature ", child, " has parent ", sorted[i], ", but there are only ",
                                     parents.size(), " features"));
      if (sorted[i] == child) throw InvalidInput(join_text("feature ", child, " cannot be its own parent"));
      if (i > 0 && sorted[i] == sorted[i - 1])
        throw InvalidInput(join_text("feature ", child, " has parent ", sorted[i], " twice"));
    }
  }
}

void check_absent(const std::vector<std::vector<std::size_t>>& parents, const std::vector<bool>& absent) {
  if (absent.size() != parents.size())
    throw InvalidInput(join_text("whether a feature is absent must be said of ", parents.size(),
                                 " features, but was said of ", absent.size()));
  for (std::size_t child = 0; child < parents.size(); ++child) {
    if (absent[child] && !parents[child].empty())
      throw InvalidInput(join_text("feature ", child, " is absent, but has parents"));
    for (const std::size_t parent : parents[child])
      if (absent[parent]) throw InvalidInput(join_text("feature ", child, " has parent ", parent, ", which is absent"));
  }
}

// Depth first with an explicit stack (a chain of 60,000 features must not overflow the call stack): a feature is placed
// as soon as its last parent is, so that a tree's branches stay together.
std::vector<std::size_t> topological_order(const std::vector<std::vector<std::size_t>>& parents,
                                           const std::vector<bool>& absent) {
  const std::size_t n = parents.size();
  std::vector<std::vector<std::size_t>> children(n);
  std::vector<std::size_t> waiting(n);
  for (std::size_t child = 0; child < n; ++child) {
    waiting[child] = parents[child].size();
    for (const std::size_t parent : parents[child]) children[parent].push_back(child);
  }
  const auto is_absent = [&](std::size_t feature) { return !absent.empty() && absent[feature]; };
  std::vector<std::size_t> order, stack;
  order.reserve(n);
  for (std::size_t root = n; root-- > 0;)
    if (parents[root].empty() && !is_absent(root)) stack.push_back(root);
  while (!stack.empty()) {
    const std::size_t feature = stack.back();
    stack.pop_back();
    order.push_back(feature);
    for (auto child = children[feature].rbegin(); child != children[feature].rend(); ++child)
      if (--waiting[*child] == 0) stack.push_back(*child);
  }
  if (order.size() + static_cast<std::size_t>(std::count(absent.begin(), absent.end(), true)) < n) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t count) { return count > 0; });
    throw InvalidInput(join_text("the arcs form a cycle that feature ", stuck - waiting.begin(), " lies on or behind"));
  }
  return order;
}

}  // namespace

Structure::Structure(std::vector<std::vector<std::size_t>> parents) : parents_(std::move(parents)) {
  check_parents(parents_);
  order_ = topological_order(parents_, absent_);
}

Structure Structure::leaving_out(std::vector<bool> absent, std::vector<std::vector<std::size_t>> parents) {
  check_parents(parents);
  check_absent(parents, absent);
  if (std::find(absent.begin(), absent.end(), true) == absent.end()) absent.clear();
  Structure structure;
  structure.parents_ = std::move(parents);
  structure.absent_ = std::move(absent);
  structure.order_ = topological_order(structure.parents_, structure.absent_);
  return structure;
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
