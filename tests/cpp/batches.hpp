// Rows to predict, for the tests of all predictors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tanager/predictor.hpp"

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

}  // namespace testing
