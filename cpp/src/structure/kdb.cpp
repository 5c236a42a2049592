// k-dependence classifiers by Sahami's filter (1996): the features are ranked by what they tell about the class, and
// each takes as parents the up to k earlier-ranked ones that tell most about it given the class. With k = 0 that is
// naive Bayes; from k = n - 1 on, all features form one complete graph.
#include <algorithm>
#include <numeric>

#include "scores/without_noise.hpp"
#include "structure/pair_weights.hpp"
#include "tanager/learn_trees.hpp"

namespace tanager {

using namespace internal;

namespace {

std::vector<std::size_t> rank_by_information(const CountSet& counts) {
  std::vector<double> information;
  for (std::size_t f = 0; f < counts.n_features(); ++f)
    information.push_back(
        without_noise(mutual_information(counts.single(f), counts.cardinalities()[f], counts.n_classes())));
  std::vector<std::size_t> ranking(counts.n_features());
  std::iota(ranking.begin(), ranking.end(), std::size_t{0});
  std::stable_sort(ranking.begin(), ranking.end(),
                   [&](std::size_t a, std::size_t b) { return information[a] > information[b]; });
  return ranking;
}

}  // namespace

Structure learn_kdb(const CountSet& counts, const KdbOptions& options, int threads) {
  const std::size_t n = counts.n_features();
  if (options.k == 0) return Structure::naive(n);
  const auto information = weigh_pairs(counts, "a k-dependence structure", threads, [&](std::size_t u, std::size_t v) {
    return without_noise(pair_information(counts, u, v));
  });
  const auto ranking = rank_by_information(counts);
  std::vector<std::vector<std::size_t>> parents(n);
  for (std::size_t i = 1; i < n; ++i) {
    const std::size_t child = ranking[i];
    const auto about_child = [&](std::size_t f) {
      return information[pair_index(std::min(f, child), std::max(f, child), n)];
    };
    std::vector<std::size_t>& chosen = parents[child];
    chosen.assign(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(i));
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](std::size_t a, std::size_t b) { return about_child(a) > about_child(b); });
    chosen.resize(std::min(i, options.k));
    std::sort(chosen.begin(), chosen.end());
  }
  return Structure(std::move(parents));
}

}  // namespace tanager
