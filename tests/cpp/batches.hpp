// Rows to predict, for the tests of all predictors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "check.hpp"
#include "tanager/network_predictor.hpp"

namespace testing {

/// Rows in every form a batch may have.
struct Batch {
  std::size_t n_rows;
  std::vector<tanager::Code> rows;
  std::vector<std::uint8_t> narrow_rows;
  std::vector<std::vector<std::uint8_t>> narrow;
  std::vector<std::vector<std::uint16_t>> wide;

  Batch(const std::vector<std::vector<tanager::Code>>& all)
      : n_rows(all.size()), narrow(all[0].size()), wide(all[0].size()) {
    for (const auto& row : all)
      for (std::size_t f = 0; f < row.size(); ++f) {
        const auto byte = row[f] == tanager::kMissing ? tanager::kMissing8 : static_cast<std::uint8_t>(row[f]);
        rows.push_back(row[f]);
        narrow_rows.push_back(byte);
        narrow[f].push_back(byte);
        wide[f].push_back(row[f]);
      }
  }
  std::vector<tanager::CodeColumn> columns(bool use_wide) const {
    std::vector<tanager::CodeColumn> result;
    for (std::size_t f = 0; f < narrow.size(); ++f)
      result.push_back(use_wide ? tanager::CodeColumn(wide[f].data()) : tanager::CodeColumn(narrow[f].data()));
    return result;
  }
};

/// What a predictor says of one row.
template <class Predictor>
std::vector<double> predict_one(const Predictor& predictor, const std::vector<tanager::Code>& row,
                                tanager::Output output) {
  std::vector<double> out(predictor.n_classes());
  predictor.predict(row, output, out);
  return out;
}

/// Checks that batches in every form give what single rows give, to the last bit; `threads_of` says on how many threads
/// an output is tried.
template <class Predictor, class ThreadsOf>
void check_batches(const Predictor& predictor, const std::vector<std::vector<tanager::Code>>& all,
                   const ThreadsOf& threads_of) {
  using tanager::Output;
  const Batch batch(all);
  for (const Output output : {Output::kLogJoint, Output::kLogPosterior, Output::kPosterior}) {
    std::vector<double> expected;
    for (const auto& row : all) {
      const auto one = predict_one(predictor, row, output);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    for (const int threads : threads_of(output)) {
      std::vector<double> out(expected.size(), -7);
      predictor.predict_rows(std::span<const tanager::Code>(batch.rows), output, out, threads);
      CHECK(out == expected);
      std::fill(out.begin(), out.end(), -7);
      predictor.predict_rows(std::span<const std::uint8_t>(batch.narrow_rows), output, out, threads);
      CHECK(out == expected);
      for (const bool wide : {false, true}) {
        std::fill(out.begin(), out.end(), -7);
        predictor.predict_columns(batch.columns(wide), batch.n_rows, output, out, threads);
        CHECK(out == expected);
      }
    }
  }
  std::vector<std::uint32_t> by_columns(all.size()), by_rows(all.size()), narrow(all.size());
  predictor.predict_classes_columns(batch.columns(false), batch.n_rows, by_columns, 2);
  predictor.predict_classes_rows(std::span<const tanager::Code>(batch.rows), by_rows, 2);
  predictor.predict_classes_rows(std::span<const std::uint8_t>(batch.narrow_rows), narrow, 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK_EQ(by_columns[i], predictor.predict_class(all[i]));
    CHECK_EQ(by_rows[i], by_columns[i]);
    CHECK_EQ(narrow[i], by_columns[i]);
  }
}

}  // namespace testing
