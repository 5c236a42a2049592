// Stratified folds: a counting sort by class, a shuffle within every class, and dealing.
#include <numeric>

#include "support/random.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

namespace tanager {

using namespace internal;

namespace {

/// The stream of random numbers that folds are drawn from.
constexpr std::uint64_t kFoldTask = 0x666F6C6473;  // "folds"

template <class T>
void deal(std::span<const T> classes, std::uint32_t n_classes, std::uint32_t n_folds, Random& random,
          std::vector<std::uint32_t>& folds) {
  std::vector<std::size_t> begin(n_classes + std::size_t{1}, 0);
  for (const T c : classes) ++begin[c + std::size_t{1}];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> by_class(classes.size()), next(begin.begin(), begin.end() - 1);
  for (std::size_t row = 0; row < classes.size(); ++row) by_class[next[classes[row]]++] = row;
  for (std::uint32_t c = 0; c < n_classes; ++c)
    random.shuffle(std::span(by_class).subspan(begin[c], begin[c + std::size_t{1}] - begin[c]));
  std::uint32_t fold = 0;
  for (const std::size_t row : by_class) {
    folds[row] = fold;
    fold = fold + 1 == n_folds ? 0 : fold + 1;
  }
}

}  // namespace

std::vector<std::uint32_t> stratified_folds(const Column& classes, std::uint32_t n_folds, std::uint64_t seed) {
  if (n_folds < 2 || n_folds > classes.size())
    throw InvalidInput(
        join_text("expected from 2 folds to the number of rows, which is ", classes.size(), ", got ", n_folds));
  if (classes.has_missing()) throw InvalidInput("every row needs a class, but some class codes are missing");
  std::vector<std::uint32_t> folds(classes.size());
  Random random(seed, kFoldTask);
  classes.visit([&](auto codes) { deal(codes, classes.n_values(), n_folds, random, folds); });
  return folds;
}

}  // namespace tanager
