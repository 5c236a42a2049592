// Training counts of folds. Whole numbers add and subtract exactly, so total - left out rows is what counting the
// training rows gives; what is left to do is to drop the values and classes that these rows lack.
#include <algorithm>
#include <numeric>
#include <utility>

#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Subtracting and merging touch every cell, counting touches every row for every table: beyond so many cells per row
/// and table the latter is faster.
constexpr double kMaxCellsPerRow = 0.25;

/// More cells than this (64 MiB) are not kept for all folds at once.
constexpr double kMaxCellsOfFolds = 1 << 23;

/// Cells per class of all tables, and their number.
struct Size {
  double cells = 0;
  double tables = 0;
};

Size size_of(const Dataset& data, CountScope scope, const std::vector<Family>& families) {
  const auto cards = data.cardinalities();
  const double sum = std::accumulate(cards.begin(), cards.end(), 0.0);
  Size size{sum, static_cast<double>(cards.size())};
  if (scope == CountScope::kPairs) {
    double squares = 0;
    for (const double r : cards) squares += r * r;
    size.cells += (sum * sum - squares) / 2;
    size.tables += size.tables * (size.tables - 1) / 2;
  }
  for (const Family& family : families) {
    double product = cards[family.child];
    for (const std::size_t parent : family.parents) product *= cards[parent];
    size.cells += product;
    ++size.tables;
  }
  return size;
}

/// The same rows with one class for every fold and class: fold * n_classes + class.
Dataset with_folds(const Dataset& data, std::span<const std::uint32_t> folds, std::size_t n_folds) {
  const auto n_classes = static_cast<std::uint32_t>(n_folds * data.n_classes());
  const auto joint = [&]<class T>(T) {
    std::vector<T> codes(data.n_rows());
    for (std::size_t row = 0; row < codes.size(); ++row)
      codes[row] = static_cast<T>(folds[row] * data.n_classes() + data.target()[row]);
    return Column(std::move(codes), n_classes);
  };
  return Dataset(data.features(), n_classes <= kMaxNarrowValues ? joint(std::uint8_t{}) : joint(std::uint16_t{}));
}

/// Calls visit(counts of a set, those of another) for the classes and then for the cells of all tables.
template <class Visit>
void for_all_counts(CountSet& a, const CountSet& b, Visit visit) {
  visit(a.class_counts(), b.class_counts());
  visit(a.cells(), b.cells());
}

/// The coding that keeps the values marked as used, in their order; nothing moves if that is all of them.
GivenCoding coding_of_used(const std::vector<std::uint8_t>& used) {
  GivenCoding coding;
  const auto n_used = static_cast<std::uint32_t>(std::accumulate(used.begin(), used.end(), std::size_t{0}));
  coding.n_values = std::max(n_used, 1U);  // a feature without any value has one that never comes
  if (n_used == used.size()) return coding;
  Code next = 0;
  for (const std::uint8_t is_used : used) coding.codes.push_back(is_used != 0 ? next++ : kMissing);
  return coding;
}

/// Whether every value occurs, in a table [value][class] of counts.
std::vector<std::uint8_t> used_values(std::span<const double> counts, std::size_t n_values) {
  std::vector<std::uint8_t> used(n_values);
  const std::size_t n_classes = n_values == 0 ? 0 : counts.size() / n_values;
  for (std::size_t k = 0; k < n_values; ++k)
    used[k] =
        std::any_of(counts.data() + k * n_classes, counts.data() + (k + 1) * n_classes, [](double n) { return n > 0; })
            ? 1
            : 0;
  return used;
}

std::vector<std::uint8_t> used_values(const Column& column) {
  std::vector<std::uint8_t> used(column.n_values());
  for (std::size_t row = 0; row < column.size(); ++row)
    if (const Code code = column[row]; code != kMissing) used[code] = 1;
  return used;
}

/// The coding of a fold: what is given, and otherwise what `used` says of each feature (by number) and of the class.
template <class UsedOfFeature, class UsedOfClass>
FoldCoding make_coding(const Dataset& data, const std::vector<bool>& keep_all, const std::vector<GivenCoding>& features,
                       const GivenCoding& classes, UsedOfFeature used_of_feature, UsedOfClass used_of_class) {
  if (!features.empty() && features.size() != data.n_features())
    throw InvalidInput(
        join_text("expected the codings of none or all of ", data.n_features(), " features, got ", features.size()));
  FoldCoding coding;
  for (std::size_t f = 0; f < data.n_features(); ++f) {
    GivenCoding found{{}, data.feature(f).n_values()};
    if (!features.empty() && !features[f].codes.empty())
      found = features[f];
    else if (!keep_all[f])
      found = coding_of_used(used_of_feature(f));
    coding.cardinalities.push_back(found.n_values);
    coding.features.push_back(std::move(found.codes));
  }
  GivenCoding found = classes.codes.empty() ? coding_of_used(used_of_class()) : classes;
  coding.classes = std::move(found.codes);
  coding.n_classes = found.n_values;
  return coding;
}

bool moves_anything(const FoldCoding& coding) {
  return !coding.classes.empty() || std::any_of(coding.features.begin(), coding.features.end(),
                                                [](const Recoding& recoding) { return !recoding.empty(); });
}

}  // namespace

bool FoldCoding::drops_values() const {
  const auto drops = [](const Recoding& recoding) { return std::ranges::count(recoding, kMissing) > 0; };
  return drops(classes) || std::any_of(features.begin(), features.end(), drops);
}

FoldCounter::FoldCounter(Dataset data, CountScope scope, std::vector<Family> families, std::vector<bool> keep_all,
                         int threads, std::span<const std::uint32_t> folds)
    : data_(std::move(data)), scope_(scope), families_(std::move(families)), keep_all_(std::move(keep_all)) {
  if (keep_all_.size() != data_.n_features())
    throw InvalidInput(
        join_text("expected a mark for each of ", data_.n_features(), " features, got ", keep_all_.size()));
  const auto cardinalities = data_.cardinalities();
  for (const Family& family : families_) checked_table_size(family, cardinalities, data_.n_classes());
  if (!folds.empty() && folds.size() != data_.n_rows())
    throw InvalidInput(join_text("expected the fold of each of ", data_.n_rows(), " rows, got ", folds.size()));
  if (data_.is_weighted()) return;
  const Size size = size_of(data_, scope_, families_);
  const double cells = size.cells * data_.n_classes();
  if (cells > kMaxCellsPerRow * size.tables * static_cast<double>(data_.n_rows())) return;
  if (!folds.empty()) n_folds_ = std::size_t{*std::max_element(folds.begin(), folds.end())} + 1;
  const auto factor = static_cast<double>(n_folds_);
  if (n_folds_ > 0 && cells * factor <= kMaxCellsOfFolds && factor * data_.n_classes() <= kMaxValues) {
    by_fold_ = count(with_folds(data_, folds, n_folds_), scope_, families_, threads);
    total_ = CountSet(cardinalities, data_.n_classes(), scope_, families_);
    for_all_counts(*total_, *by_fold_, [&](std::span<double> sums, std::span<const double> parts) {
      const std::size_t n_classes = data_.n_classes();
      for (std::size_t i = 0; i < sums.size(); i += n_classes)
        for (std::size_t fold = 0; fold < n_folds_; ++fold)
          for (std::size_t c = 0; c < n_classes; ++c) sums[i + c] += parts[i * n_folds_ + fold * n_classes + c];
    });
  } else {
    total_ = count(data_, scope_, families_, threads);
  }
}

TrainingFold FoldCounter::train(std::span<const std::size_t> rows, const std::vector<GivenCoding>& features,
                                const GivenCoding& classes, int threads) const {
  if (rows.empty()) throw InvalidInput("a fold needs training rows, but there is none");
  if (total_ && 2 * rows.size() > data_.n_rows() && rows.size() <= data_.n_rows()) {
    std::vector<std::uint8_t> is_left_out(data_.n_rows(), 1);
    bool twice = false;
    for (const std::size_t row : rows) {
      if (row >= data_.n_rows()) throw InvalidInput(join_text("expected a row below ", data_.n_rows(), ", got ", row));
      twice |= is_left_out[row] == 0;
      is_left_out[row] = 0;
    }
    if (!twice) {
      std::vector<std::size_t> left_out;
      left_out.reserve(data_.n_rows() - rows.size());
      for (std::size_t row = 0; row < data_.n_rows(); ++row)
        if (is_left_out[row] != 0) left_out.push_back(row);
      CountSet counts = *total_;
      counts -= count(data_.subset(left_out), scope_, families_, threads);
      return finished(std::move(counts), features, classes);
    }
  }
  return counted(rows, features, classes, threads);
}

TrainingFold FoldCounter::train_without(std::size_t fold, const std::vector<GivenCoding>& features,
                                        const GivenCoding& classes) const {
  if (!by_fold_ || fold >= n_folds_)
    throw InvalidInput(join_text("expected a fold below ", by_fold_ ? n_folds_ : 0, ", got ", fold));
  CountSet counts = *total_;
  for_all_counts(counts, *by_fold_, [&](std::span<double> rest, std::span<const double> parts) {
    const std::size_t n_classes = data_.n_classes();
    for (std::size_t i = 0; i < rest.size(); i += n_classes)
      for (std::size_t c = 0; c < n_classes; ++c) rest[i + c] -= parts[i * n_folds_ + fold * n_classes + c];
  });
  if (std::ranges::count(counts.class_counts(), 0.0) == static_cast<std::ptrdiff_t>(data_.n_classes()))
    throw InvalidInput("a fold needs training rows, but there is none");
  return finished(std::move(counts), features, classes);
}

TrainingFold FoldCounter::finished(CountSet counts, const std::vector<GivenCoding>& features,
                                   const GivenCoding& classes) const {
  FoldCoding coding = make_coding(
      data_, keep_all_, features, classes,
      [&](std::size_t f) { return used_values(counts.single(f), data_.feature(f).n_values()); },
      [&] { return used_values(counts.class_counts(), data_.n_classes()); });
  if (moves_anything(coding))
    counts = counts.merged(coding.cardinalities, coding.n_classes, coding.features, coding.classes);
  return {std::move(coding), std::move(counts)};
}

TrainingFold FoldCounter::counted(std::span<const std::size_t> rows, const std::vector<GivenCoding>& features,
                                  const GivenCoding& classes, int threads) const {
  const Dataset chosen = data_.subset(rows);
  FoldCoding coding = make_coding(
      data_, keep_all_, features, classes, [&](std::size_t f) { return used_values(chosen.feature(f)); },
      [&] { return used_values(chosen.target()); });
  if (!moves_anything(coding)) return {std::move(coding), count(chosen, scope_, families_, threads)};
  std::vector<std::size_t> all(rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  CountSet counts = count(recoded_subset(chosen, all, coding), scope_, families_, threads);
  return {std::move(coding), std::move(counts)};
}

}  // namespace tanager
