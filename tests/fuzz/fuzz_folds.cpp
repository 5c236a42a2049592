// Training counts of folds against counting the training rows after coding them anew; scores of predictions and
// stratified folds against plain loops.
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "reference.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

const int fuzz::kShortRuns = 4000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;

Dataset read_dataset(fuzz::Input& input) {
  const std::size_t n_rows = input.choose<int>({0, 0, 0, 1}) == 0 ? input.size(1, 120) : input.size(1, 1200);
  const auto n_classes =
      static_cast<std::uint32_t>(input.choose<int>({0, 0, 1}) == 0 ? input.size(1, 5) : input.edge_size(300));
  std::vector<reference::ColumnSpec> features(input.size(0, 4));
  std::size_t widest = 2000 / n_classes;
  for (reference::ColumnSpec& spec : features) {
    spec.n_values =
        static_cast<std::uint32_t>(input.flag() ? input.size(1, 3) : input.edge_size(std::max<std::size_t>(1, widest)));
    spec.missing = input.choose({0.0, 0.0, 0.1, 1.0});
    spec.skew = input.choose({0.0, 0.9});
    spec.wide = input.flag();
    widest = std::max<std::size_t>(1, std::min<std::size_t>(widest, 4000 / n_classes / spec.n_values));
  }
  const bool weighted = input.choose({false, false, false, true});
  return reference::random_dataset(features, {n_classes, 0.0, input.choose({0.0, 0.9}), input.flag()}, n_rows, weighted,
                                   input.number(0, UINT32_MAX));
}

/// The codes of values that occur in the given rows, in their order; everything else becomes missing.
GivenCoding coding_of(const Column& column, std::span<const std::size_t> rows) {
  std::vector<bool> used(column.n_values(), false);
  for (const std::size_t row : rows)
    if (column[row] != kMissing) used[column[row]] = true;
  GivenCoding coding;
  for (const bool is_used : used) coding.codes.push_back(is_used ? static_cast<Code>(coding.n_values++) : kMissing);
  coding.n_values = std::max(coding.n_values, 1U);
  return coding;
}

GivenCoding identity(std::uint32_t n_values) {
  GivenCoding coding{{}, n_values};
  for (std::uint32_t k = 0; k < n_values; ++k) coding.codes.push_back(static_cast<Code>(k));
  return coding;
}

Column recoded(const Column& column, std::span<const std::size_t> rows, const GivenCoding& coding) {
  std::vector<std::uint16_t> codes;
  for (const std::size_t row : rows) codes.push_back(column[row] == kMissing ? kMissing : coding.codes[column[row]]);
  return Column(std::move(codes), coding.n_values);
}

void require_table(std::span<const double> got, const std::vector<double>& expected, const std::string& what) {
  fuzz::require_same(got.size(), expected.size(), "size of " + what);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (got[i] != expected[i]) fuzz::require_same(got[i], expected[i], what + ", entry " + std::to_string(i));
}

void require_coding(const Recoding& got, std::uint32_t n_values, const GivenCoding& expected, const std::string& what) {
  fuzz::require_same(n_values, expected.n_values, what + ": number of values");
  if (got.empty()) {  // nothing moves
    fuzz::require(expected.codes == identity(expected.n_values).codes, what + ": an empty coding, but values move");
    return;
  }
  fuzz::require(got == expected.codes, what + ": codes");
}

struct Settings {
  CountScope scope;
  std::vector<Family> families;
  std::vector<bool> keep_all;
  std::vector<GivenCoding> given;  // of features; empty codes where not given
  GivenCoding given_classes;
};

Settings read_settings(fuzz::Input& input, const Dataset& data) {
  Settings settings{input.flag() ? CountScope::kSingles : CountScope::kPairs, {}, {}, {}, {}};
  const std::size_t n = data.n_features();
  if (n > 1 && input.flag()) settings.families.push_back({n - 1, {0}});
  if (n > 2 && input.flag() &&
      std::size_t{data.n_classes()} * data.feature(0).n_values() * data.feature(1).n_values() *
              data.feature(2).n_values() <
          3000)
    settings.families.push_back({1, {2, 0}});
  for (std::size_t f = 0; f < n; ++f) settings.keep_all.push_back(input.choose({false, false, true}));
  if (!input.choose({false, false, true})) return settings;
  std::mt19937_64 random = input.random();
  settings.given.resize(n);
  for (std::size_t f = 0; f < n; ++f) {
    if (input.flag()) continue;
    GivenCoding& coding = settings.given[f];
    coding.n_values = static_cast<std::uint32_t>(input.size(1, data.feature(f).n_values()));
    for (std::size_t k = 0; k < data.feature(f).n_values(); ++k)
      coding.codes.push_back(random() % 8 == 0 ? kMissing : static_cast<Code>(random() % coding.n_values));
  }
  if (input.flag()) {  // classes may be joined, but those of training rows must have a code
    settings.given_classes.n_values = static_cast<std::uint32_t>(input.size(1, data.n_classes()));
    for (std::size_t k = 0; k < data.n_classes(); ++k)
      settings.given_classes.codes.push_back(static_cast<Code>(random() % settings.given_classes.n_values));
  }
  return settings;
}

/// A fold against the training rows, coded and counted on their own.
void check_fold(const TrainingFold& fold, const Dataset& data, const Settings& settings,
                std::span<const std::size_t> rows) {
  std::vector<Column> columns;
  for (std::size_t f = 0; f < data.n_features(); ++f) {
    const Column& column = data.feature(f);
    GivenCoding coding = settings.keep_all[f] ? identity(column.n_values()) : coding_of(column, rows);
    if (!settings.given.empty() && !settings.given[f].codes.empty()) coding = settings.given[f];
    require_coding(fold.coding.features[f], fold.coding.cardinalities[f], coding, "feature " + std::to_string(f));
    columns.push_back(recoded(column, rows, coding));
  }
  const GivenCoding classes =
      settings.given_classes.codes.empty() ? coding_of(data.target(), rows) : settings.given_classes;
  require_coding(fold.coding.classes, fold.coding.n_classes, classes, "class");
  std::vector<double> weights;
  for (const std::size_t row : rows)
    if (data.is_weighted()) weights.push_back(data.weights()[row]);
  const Dataset expected(std::move(columns), recoded(data.target(), rows, classes), std::move(weights));

  std::vector<double> class_counts(expected.n_classes(), 0.0);
  for (std::size_t row = 0; row < expected.n_rows(); ++row)
    class_counts[expected.target()[row]] += expected.is_weighted() ? expected.weights()[row] : 1.0;
  require_table(fold.counts.class_counts(), class_counts, "class counts");
  for (std::size_t v = 0; v < expected.n_features(); ++v) {
    require_table(fold.counts.single(v), reference::count_table(expected, {v, {}}), "single " + std::to_string(v));
    for (std::size_t u = 0; settings.scope == CountScope::kPairs && u < v; ++u)
      require_table(fold.counts.pair(u, v), reference::count_table(expected, {v, {u}}), "pair");
  }
  for (std::size_t i = 0; i < settings.families.size(); ++i)
    require_table(fold.counts.family(i), reference::count_table(expected, settings.families[i]), "family");

  const Dataset subset = recoded_subset(data, rows, fold.coding);
  for (std::size_t f = 0; f < data.n_features(); ++f) {
    std::vector<std::uint16_t> codes(rows.size());
    gather_codes(data.feature(f), rows, fold.coding.features[f], std::span<std::uint16_t>(codes));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      fuzz::require_same(subset.feature(f)[i], expected.feature(f)[i], "code of a recoded row");
      fuzz::require_same(codes[i], expected.feature(f)[i], "gathered code");
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    fuzz::require_same(subset.target()[i], expected.target()[i], "class of a recoded row");
}

/// Calls `act`, which must be rejected because there are no rows to learn from.
template <class Act>
void require_rejected(Act act) {
  try {
    act();
  } catch (const InvalidInput&) {
    return;
  }
  fuzz::fail("a fold without training rows is accepted");
}

void check_counter(fuzz::Input& input) {
  const Dataset data = read_dataset(input);
  const Settings settings = read_settings(input, data);
  // Folds times classes are often about as many as a byte or two can tell apart.
  const std::size_t about = input.choose<int>({0, 1, 2}) == 0 ? input.size(2, 6) : input.edge_size(300);
  const std::size_t n_folds = std::clamp<std::size_t>(input.flag() ? about : 257 / data.n_classes(), 1, data.n_rows());
  std::mt19937_64 random = input.random();
  std::vector<std::uint32_t> folds;
  for (std::size_t row = 0; row < data.n_rows(); ++row) folds.push_back(static_cast<std::uint32_t>(random() % n_folds));
  const std::size_t n_used = *std::max_element(folds.begin(), folds.end()) + std::size_t{1};
  const int threads = input.choose<int>({1, 1, 1, 2});
  const bool known = input.flag();
  const FoldCounter counter(data, settings.scope, settings.families, settings.keep_all, threads,
                            known ? std::span<const std::uint32_t>(folds) : std::span<const std::uint32_t>{});
  fuzz::require(known || !counter.knows_folds(), "folds that nobody told are known");

  for (std::size_t tries = input.size(1, 3); tries > 0; --tries) {
    const std::size_t fold = input.size(0, n_used - 1);
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < data.n_rows(); ++row)
      if (folds[row] != fold) rows.push_back(row);
    if (counter.knows_folds()) {
      if (rows.empty())
        require_rejected(
            [&] { static_cast<void>(counter.train_without(fold, settings.given, settings.given_classes)); });
      else
        check_fold(counter.train_without(fold, settings.given, settings.given_classes), data, settings, rows);
    }
    if (input.flag())  // rows in any order, some several times
      for (std::size_t more = input.size(0, data.n_rows()); more > 0; --more) rows.push_back(random() % data.n_rows());
    if (input.flag()) std::shuffle(rows.begin(), rows.end(), random);
    if (rows.empty())
      require_rejected(
          [&] { static_cast<void>(counter.train(rows, settings.given, settings.given_classes, threads)); });
    else
      check_fold(counter.train(rows, settings.given, settings.given_classes, threads), data, settings, rows);
  }
}

void check_scores(fuzz::Input& input) {
  const std::size_t n = input.size(1, 40), s = input.choose<std::size_t>({1, 2, 2, 3, 4, 5, 9, 257});
  const bool coarse = input.flag(), strange = input.flag(), with_logs = input.flag();
  std::mt19937_64 random = input.random();
  std::vector<double> probabilities, logs;
  std::vector<Code> truth;
  for (std::size_t row = 0; row < n; ++row) {
    truth.push_back(strange && random() % 8 == 0 ? kMissing : static_cast<Code>(random() % s));
    for (std::size_t c = 0; c < s; ++c) {
      double p = coarse ? static_cast<double>(random() % 4) / 4 : static_cast<double>(random() >> 11) * 0x1p-53;
      if (strange && random() % 8 == 0) p = 0;
      probabilities.push_back(p);
      logs.push_back(p > 0 ? std::log(p) : -800.0);
    }
  }
  Predictions predictions{probabilities, static_cast<std::uint32_t>(s), truth, {}};
  if (with_logs) predictions.log_probabilities = logs;
  std::size_t right = 0, clear_right = 0;
  std::vector<std::size_t> close;
  double sum = 0;
  for (std::size_t row = 0; row < n; ++row) {
    const double* p = probabilities.data() + row * s;
    std::size_t best = 0, rivals = 0;
    for (std::size_t c = 1; c < s; ++c)
      if (p[c] > p[best]) best = c;
    for (std::size_t c = 0; c < s; ++c) rivals += c != best && p[c] >= p[best] * (1 - 1e-9) ? 1 : 0;
    if (rivals > 0) close.push_back(row);
    if (best == truth[row]) ++right;
    if (best == truth[row] && rivals == 0) ++clear_right;
    if (truth[row] == kMissing)
      sum = -std::numeric_limits<double>::infinity();
    else
      sum += p[truth[row]] > 0 ? std::log(p[truth[row]]) : with_logs ? -800 : -std::numeric_limits<double>::infinity();
  }
  fuzz::require_same(accuracy(predictions), static_cast<double>(right) / static_cast<double>(n), "accuracy");
  fuzz::require_same(right_rows(predictions).n_right, clear_right, "rows that are right");
  fuzz::require(right_rows(predictions).close == close, "close rows");
  fuzz::require_near(conditional_log_likelihood(predictions), sum, 1e-12, "conditional log-likelihood");
  fuzz::require_near(log_loss(predictions), -sum / static_cast<double>(n), 1e-12, "log loss");

  double areas = 0;
  std::size_t n_evaluated = 0;
  for (std::size_t c = s == 2 ? 1 : 0; c < s && s > 1; ++c) {
    double wins = 0, pairs = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        if (truth[i] != c || truth[j] == c) continue;
        const double a = probabilities[i * s + c], b = probabilities[j * s + c];
        ++pairs;
        wins += a > b ? 1 : a == b ? 0.5 : 0;
      }
    if (pairs == 0) continue;
    areas += wins / pairs;
    ++n_evaluated;
  }
  const double expected = n_evaluated > 0 ? areas / static_cast<double>(n_evaluated) : std::nan("");
  if (n_evaluated > 0)
    fuzz::require_near(auc(predictions), expected, 1e-13, "area under the curve");
  else
    fuzz::require_same(auc(predictions), expected, "area under no curve");
}

void check_stratified(fuzz::Input& input) {
  const auto n_classes = static_cast<std::uint32_t>(input.edge_size(300));
  std::mt19937_64 random = input.random();
  const Column classes =
      reference::random_column({n_classes, 0.0, input.choose({0.0, 0.8}), input.flag()}, input.edge_size(400), random);
  const auto n_folds = static_cast<std::uint32_t>(input.edge_size(300) - 1);
  const std::uint64_t seed = input.number(0, 255);
  std::vector<std::uint32_t> folds;
  try {
    folds = stratified_folds(classes, n_folds, seed);
  } catch (const InvalidInput&) {
    fuzz::require(n_folds < 2 || n_folds > classes.size(), "a possible number of folds is rejected");
    return;
  }
  fuzz::require(n_folds >= 2 && n_folds <= classes.size(), "an impossible number of folds is accepted");
  fuzz::require(folds == stratified_folds(classes, n_folds, seed), "folds depend on more than the seed");
  std::vector<std::size_t> sizes(n_folds, 0), cells(std::size_t{n_folds} * n_classes, 0);
  for (std::size_t row = 0; row < classes.size(); ++row) {
    fuzz::require(folds[row] < n_folds, "a fold that does not exist");
    ++sizes[folds[row]];
    ++cells[std::size_t{classes[row]} * n_folds + folds[row]];
  }
  const auto even = [](auto begin, auto end) {
    return *std::max_element(begin, end) - *std::min_element(begin, end) <= 1;
  };
  fuzz::require(even(sizes.begin(), sizes.end()), "sizes of folds");
  for (auto first = cells.begin(); first != cells.end(); first += static_cast<std::ptrdiff_t>(n_folds))
    fuzz::require(even(first, first + static_cast<std::ptrdiff_t>(n_folds)), "rows of a class in folds");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const std::size_t part = input.size(0, 7);
  if (part < 6)
    check_counter(input);
  else if (part == 6)
    check_scores(input);
  else
    check_stratified(input);
  return 0;
}
