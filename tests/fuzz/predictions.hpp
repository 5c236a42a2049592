// What any predictor must do: agree with the definition, and give the same bits alone, in batches of any form and on
// any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "networks.hpp"
#include "tanager/errors.hpp"
#include "tanager/predictor.hpp"

namespace fuzz {

using Row = std::vector<tanager::Code>;
/// P(observed features, class) of every class, by the definition.
using Reference = std::function<std::vector<long double>(const Row&)>;

/// The outputs of some rows, one row at a time.
struct Outputs {
  std::vector<double> log_joint, log_posterior, posterior;
  std::uint32_t best = 0;

  const std::vector<double>& of(tanager::Output output) const {
    if (output == tanager::Output::kLogJoint) return log_joint;
    return output == tanager::Output::kLogPosterior ? log_posterior : posterior;
  }
};

inline constexpr tanager::Output kOutputs[] = {tanager::Output::kLogJoint, tanager::Output::kLogPosterior,
                                               tanager::Output::kPosterior};

inline Outputs predict_row(const tanager::Predictor& predictor, const Row& row) {
  Outputs outputs;
  const auto predict = [&](tanager::Output output) {
    std::vector<double> out(predictor.n_classes(), -7.0);
    predictor.predict(row, output, out);
    return out;
  };
  outputs.log_joint = predict(tanager::Output::kLogJoint);
  outputs.log_posterior = predict(tanager::Output::kLogPosterior);
  outputs.posterior = predict(tanager::Output::kPosterior);
  outputs.best = predictor.predict_class(row);
  return outputs;
}

/// One row against the definition; `tolerance` is relative to the logarithms.
inline void check_row(const Outputs& got, const std::vector<long double>& joint, double tolerance) {
  long double total = 0, most = 0;
  double largest_log = 1;
  for (const long double p : joint) {
    total += p;
    most = std::max(most, p);
    if (p > 0) largest_log = std::max(largest_log, std::abs(static_cast<double>(std::log(p))));
  }
  const double near = tolerance * largest_log;
  for (std::size_t c = 0; c < joint.size(); ++c) {
    const std::string of_class = " of class " + std::to_string(c);
    const long double posterior = total > 0 ? joint[c] / total : 1.0L / static_cast<long double>(joint.size());
    require_near(got.log_joint[c], static_cast<double>(std::log(joint[c])), near, "log joint" + of_class);
    require_near(got.log_posterior[c], static_cast<double>(std::log(posterior)), near, "log posterior" + of_class);
    require_near(got.posterior[c], static_cast<double>(posterior), near, "posterior" + of_class);
    require(posterior > 0 || got.posterior[c] == 0, "an impossible class has a posterior: " + of_class);
  }
  require(got.best < joint.size(), "a predicted class that does not exist");
  require(joint[got.best] >= most * (1 - 10 * static_cast<long double>(near)), "the predicted class is not the best");
}

/// Rows with a scratch against the same rows without, to the last bit. The scratch is used for one predictor after the
/// other, as by a program that serves several models.
inline void check_scratch(const tanager::Predictor& predictor, const std::vector<Row>& rows,
                          const std::vector<Outputs>& outputs) {
  static tanager::Predictor::Scratch scratch;
  std::vector<double> out(predictor.n_classes());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const tanager::Output output : kOutputs) {
      const std::uint32_t best = predictor.predict(rows[i], output, out, scratch);
      require_same(best, outputs[i].best, "class of a row with a scratch");
      for (std::size_t c = 0; c < out.size(); ++c)
        require_same(out[c], outputs[i].of(output)[c], "a row with a scratch, class " + std::to_string(c));
    }
    require_same(predictor.predict_class(rows[i], scratch), outputs[i].best, "class alone, with a scratch");
  }
}

/// A batch of rows in some form against what single rows gave, to the last bit.
inline void check_batch(Input& input, const tanager::Predictor& predictor, const std::vector<Row>& rows,
                        const std::vector<Outputs>& outputs) {
  const std::size_t n = predictor.n_features(), s = predictor.n_classes();
  const tanager::Output output = kOutputs[input.size(0, 2)];
  const int threads = input.choose<int>({1, 1, 1, 1, 2, 3});
  const bool large = s <= 16 && input.choose({false, false, false, false, false, true});
  const std::size_t n_rows = large ? input.edge_size(600) : input.size(0, 12);
  std::mt19937_64 random = input.random();
  std::vector<double> expected, out(n_rows * s, -7.0);
  std::vector<std::uint32_t> expected_classes, classes(n_rows, 77);
  std::vector<std::uint16_t> by_rows, by_columns(n_rows * n);
  std::vector<bool> fits(n, true);  // 8 bits
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::size_t picked = random() % rows.size();
    expected.insert(expected.end(), outputs[picked].of(output).begin(), outputs[picked].of(output).end());
    expected_classes.push_back(outputs[picked].best);
    for (std::size_t f = 0; f < n; ++f) {
      const tanager::Code code = rows[picked][f];
      if (code != tanager::kMissing && code >= tanager::kMissing8) fits[f] = false;
      by_rows.push_back(code);
      by_columns[f * n_rows + i] = code;
    }
  }
  // The missing code of 16 bits becomes that of 8.
  const std::vector<std::uint8_t> narrow_rows(by_rows.begin(), by_rows.end());
  const std::vector<std::uint8_t> narrow_columns(by_columns.begin(), by_columns.end());
  const bool all_fit = std::find(fits.begin(), fits.end(), false) == fits.end();
  const std::size_t form = n == 0 ? 0 : input.size(0, all_fit ? 2 : 1);
  if (form == 0) {
    std::vector<tanager::CodeColumn> columns;
    for (std::size_t f = 0; f < n; ++f)
      columns.push_back(fits[f] && input.flag() ? tanager::CodeColumn(narrow_columns.data() + f * n_rows)
                                                : tanager::CodeColumn(by_columns.data() + f * n_rows));
    predictor.predict_columns(columns, n_rows, output, out, threads);
    predictor.predict_classes_columns(columns, n_rows, classes, threads);
  } else if (form == 1) {
    predictor.predict_rows(std::span<const std::uint16_t>(by_rows), output, out, threads);
    predictor.predict_classes_rows(std::span<const std::uint16_t>(by_rows), classes, threads);
  } else {
    predictor.predict_rows(std::span<const std::uint8_t>(narrow_rows), output, out, threads);
    predictor.predict_classes_rows(std::span<const std::uint8_t>(narrow_rows), classes, threads);
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] != expected[i])
      require_same(out[i], expected[i], "batch of form " + std::to_string(form) + ", entry " + std::to_string(i));
  require(classes == expected_classes, "batch of form " + std::to_string(form) + ": classes");
}

/// A code that a feature does not have is rejected, alone and in a batch.
inline void check_unknown_code(Input& input, const tanager::Predictor& predictor, Row row,
                               std::span<const std::uint32_t> cards, const std::vector<bool>& ignored) {
  const std::size_t f = input.size(0, row.size() - 1);
  if (ignored[f]) return;
  row[f] = static_cast<tanager::Code>(input.size(cards[f], tanager::kMissing - 1));
  std::vector<double> out(predictor.n_classes());
  std::vector<std::uint32_t> best(1);
  const auto rejects = [](auto act) {
    try {
      act();
    } catch (const tanager::InvalidInput&) {
      return true;
    }
    return false;
  };
  require(rejects([&] { predictor.predict(row, tanager::Output::kPosterior, out); }), "one row with an unknown code");
  require(rejects([&] { static_cast<void>(predictor.predict_class(row)); }), "the class of a row with an unknown code");
  require(rejects([&] { predictor.predict_rows(row, tanager::Output::kPosterior, out); }),
          "a batch with unknown codes");
  require(rejects([&] { predictor.predict_classes_rows(row, best); }), "classes of a batch with unknown codes");
}

/// Everything above for a few rows.
inline void check_predictor(Input& input, const tanager::Predictor& predictor, std::span<const std::uint32_t> cards,
                            const std::vector<bool>& ignored, std::size_t most_completions, double tolerance,
                            const Reference& reference) {
  std::mt19937_64 random = input.random();
  std::vector<Row> rows(input.size(1, 5));
  std::vector<Outputs> outputs;
  for (Row& row : rows) {
    row = read_row(input, random, cards, most_completions);
    outputs.push_back(predict_row(predictor, row));
    check_row(outputs.back(), reference(row), tolerance);
  }
  check_scratch(predictor, rows, outputs);
  check_batch(input, predictor, rows, outputs);
  if (!cards.empty()) check_unknown_code(input, predictor, rows[0], cards, ignored);
}

}  // namespace fuzz
