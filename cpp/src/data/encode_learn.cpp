// Finds the distinct integers of all columns and encodes them, mostly in one pass: a sample gives the integers that a
// column probably has, and columns that have others are read completely and encoded again.
#include <utility>

#include "tanager/encode.hpp"

namespace tanager {
namespace {

/// Up to one column in this many is encoded again alone: faster than encoding all columns again.
constexpr std::size_t kColumnsPerPass = 8;

IntegerMatrix column_of(IntegerMatrix matrix, std::size_t j) {
  matrix.data = static_cast<const char*>(matrix.data) + static_cast<std::ptrdiff_t>(j) * matrix.column_stride;
  matrix.n_columns = 1;
  matrix.column_stride = 0;
  return matrix;
}

}  // namespace

std::vector<std::vector<std::int64_t>> learn_integers(const IntegerMatrix& matrix, std::span<CodeBuffer> out,
                                                      const std::function<CodeBuffer(std::size_t)>& widened,
                                                      int threads) {
  std::vector<std::vector<std::int64_t>> keys = sampled_integers(matrix);
  std::vector<CodeBook> books;
  std::vector<const CodeBook*> pointers;
  books.reserve(keys.size());
  for (const auto& found : keys) pointers.push_back(&books.emplace_back(found));
  const auto fit_buffer = [&](std::size_t j) {
    if (books[j].is_wide() && !out[j].wide) out[j] = widened(j);
  };
  for (std::size_t j = 0; j < books.size(); ++j) fit_buffer(j);

  const std::vector<std::uint8_t> unseen = encode_integers(matrix, pointers, out, threads);
  std::vector<std::size_t> wrong;
  for (std::size_t j = 0; j < unseen.size(); ++j)
    if (unseen[j] != 0) wrong.push_back(j);
  if (wrong.empty()) return keys;
  std::vector<std::vector<std::int64_t>> found = distinct_integers(matrix, wrong, threads);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const std::size_t j = wrong[i];
    keys[j] = std::move(found[i]);
    if (keys[j].size() <= kMaxValues) books[j] = CodeBook(keys[j]);
    fit_buffer(j);
  }
  if (wrong.size() * kColumnsPerPass > matrix.n_columns) {
    encode_integers(matrix, pointers, out, threads);
    return keys;
  }
  for (const std::size_t j : wrong)
    encode_integers(column_of(matrix, j), std::span(pointers).subspan(j, 1), out.subspan(j, 1), threads);
  return keys;
}

}  // namespace tanager
