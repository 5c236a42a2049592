// Rows of a table in the coding of a fold.
#include <algorithm>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Missing codes of either width become those of the other.
template <class To, class From>
To as_width(From code) {
  constexpr From kFrom = static_cast<From>(~From{0});
  return code == kFrom ? static_cast<To>(~To{0}) : static_cast<To>(code);
}

template <class From, class To>
void gather(std::span<const From> codes, std::span<const std::size_t> rows, const Recoding& recoding,
            std::span<To> out) {
  if (recoding.empty()) {
    std::transform(rows.begin(), rows.end(), out.begin(), [&](std::size_t row) { return as_width<To>(codes[row]); });
    return;
  }
  std::transform(rows.begin(), rows.end(), out.begin(), [&](std::size_t row) {
    const Code code = as_width<Code>(codes[row]);
    return as_width<To>(code == kMissing ? kMissing : recoding[code]);
  });
}

template <class To>
void gather_any(const Column& column, std::span<const std::size_t> rows, const Recoding& recoding, std::span<To> out) {
  if (rows.size() != out.size())
    throw InvalidInput(join_text("expected room for ", rows.size(), " codes, got ", out.size()));
  if (!recoding.empty() && recoding.size() != column.n_values())
    throw InvalidInput(join_text("the recoding of a column has ", recoding.size(), " entries, but ", column.n_values(),
                                 " values are known"));
  if constexpr (sizeof(To) == 1) {
    std::uint32_t n_values = recoding.empty() ? column.n_values() : 0;
    for (const Code code : recoding)
      if (code != kMissing) n_values = std::max(n_values, code + 1U);
    if (n_values > kMaxNarrowValues)
      throw InvalidInput(
          join_text(n_values, " values do not fit 8-bit codes, which represent at most ", kMaxNarrowValues));
  }
  for (const std::size_t row : rows)
    if (row >= column.size()) throw InvalidInput(join_text("expected a row below ", column.size(), ", got ", row));
  column.visit([&](auto codes) { gather(codes, rows, recoding, out); });
}

Column gathered(const Column& column, std::span<const std::size_t> rows, const Recoding& recoding,
                std::uint32_t n_values) {
  if (n_values <= kMaxNarrowValues) {
    std::vector<std::uint8_t> codes(rows.size());
    gather_any<std::uint8_t>(column, rows, recoding, codes);
    return Column(std::move(codes), n_values);
  }
  std::vector<std::uint16_t> codes(rows.size());
  gather_any<std::uint16_t>(column, rows, recoding, codes);
  return Column(std::move(codes), n_values);
}

}  // namespace

Dataset recoded_subset(const Dataset& data, std::span<const std::size_t> rows, const FoldCoding& coding) {
  if (coding.features.size() != data.n_features() || coding.cardinalities.size() != data.n_features())
    throw InvalidInput(
        join_text("expected the coding of ", data.n_features(), " features, got that of ", coding.features.size()));
  std::vector<Column> features;
  features.reserve(data.n_features());
  for (std::size_t f = 0; f < data.n_features(); ++f)
    features.push_back(gathered(data.feature(f), rows, coding.features[f], coding.cardinalities[f]));
  std::vector<double> weights;
  if (data.is_weighted())
    for (const std::size_t row : rows) weights.push_back(data.weights()[row]);
  return Dataset(std::move(features), gathered(data.target(), rows, coding.classes, coding.n_classes),
                 std::move(weights));
}

void gather_codes(const Column& column, std::span<const std::size_t> rows, const Recoding& recoding,
                  std::span<std::uint8_t> out) {
  gather_any(column, rows, recoding, out);
}

void gather_codes(const Column& column, std::span<const std::size_t> rows, const Recoding& recoding,
                  std::span<std::uint16_t> out) {
  gather_any(column, rows, recoding, out);
}

}  // namespace tanager
