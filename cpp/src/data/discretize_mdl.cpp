// Recursive minimal-entropy partition under the MDL stopping rule: Fayyad and Irani, "Multi-interval discretization of
// continuous-valued attributes for classification learning", IJCAI 1993.
//
// The sorted rows are first squeezed into blocks: maximal runs of values of one class, and single values of several
// classes. Only ends of blocks can be optimal cuts (their theorem 1), so that all searching is over blocks. Searching a
// stretch of blocks moves them one by one from the right part to the left and updates only the entropy terms of the
// classes that move. The terms are fixed-point integers, so their sums are exact whatever the order of the moves.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/discretize_sort.hpp"
#include "support/check_stop.hpp"
#include "tanager/discretize.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

struct Row {
  std::uint64_t key;
  Code target;
  double weight() const { return 1.0; }
};

struct WeightedRow {
  std::uint64_t key;
  double weight_;
  Code target;
  double weight() const { return weight_; }
};

/// The weight of one class in one block.
struct Entry {
  double weight;
  double cut;  // between this block and the next; only in the last entry of a block
  Code target;
  bool ends_block;
};

/// Squeezes rows sorted by value into blocks. Classes of a mixed value are in ascending order.
class BlockBuilder {
 public:
  explicit BlockBuilder(std::size_t n_classes) : weights_(n_classes, 0.0) {}

  template <class AnyRow>
  std::vector<Entry> build(std::span<const AnyRow> rows) {
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      if (++values_ % kStepsPerCheck == 0) check_stop();
      for (end = begin; end < rows.size() && rows[end].key == rows[begin].key; ++end) add(rows[end]);
      push_value(key_number(rows[begin].key));
    }
    if (!entries_.empty()) entries_.back().ends_block = true;
    return std::move(entries_);
  }

 private:
  template <class AnyRow>
  void add(const AnyRow& row) {
    if (weights_[row.target] == 0) targets_.push_back(row.target);
    weights_[row.target] += row.weight();
  }

  void push_value(double value) {
    const bool pure = targets_.size() == 1;
    if (pure && last_pure_ && entries_.back().target == targets_.front()) {
      entries_.back().weight += weights_[targets_.front()];
    } else {
      if (!entries_.empty()) {
        entries_.back().ends_block = true;
        entries_.back().cut = cut_between(last_value_, value);
      }
      std::sort(targets_.begin(), targets_.end());
      for (const Code target : targets_) entries_.push_back({weights_[target], 0.0, target, false});
    }
    for (const Code target : targets_) weights_[target] = 0;
    targets_.clear();
    last_pure_ = pure;
    last_value_ = value;
  }

  std::vector<Entry> entries_;
  std::vector<double> weights_;  // of the current value, by class; all zero in between
  std::vector<Code> targets_;    // the classes of the current value
  std::size_t values_ = 0;
  bool last_pure_ = false;
  double last_value_ = 0;
};

/// p log2 p in units of 2^-55. Sums over classes stay below 2^60, since an entropy of 65,534 classes is below 16 bits.
/// Cut off rather than rounded: that is one instruction, and the lost unit is far below kTie.
std::int64_t entropy_term(double p) {
  return p > 0 ? static_cast<std::int64_t>(p * std::log2(p) * 0x1p55) : 0;
}

/// Cuts whose entropies differ by less than this (2^-46 bits) are equally good: the difference is rounding.
constexpr std::int64_t kTie = std::int64_t{1} << 9;

/// Entropy in bits of the given class weights, and how many classes there are.
struct Purity {
  double total = 0;
  double entropy = 0;
  double n_classes = 0;
};

class Partitioner {
 public:
  Partitioner(std::vector<Entry> entries, std::size_t n_classes)
      : entries_(std::move(entries)), left_(n_classes), right_(n_classes), right_entries_(n_classes, 0) {}

  std::vector<double> cuts() {
    std::vector<double> found;
    std::vector<std::pair<std::size_t, std::size_t>> todo{{0, entries_.size()}};
    while (!todo.empty()) {
      check_stop();
      const auto [begin, end] = todo.back();
      todo.pop_back();
      const std::size_t middle = best_cut(begin, end);
      if (middle == end || !pays(begin, middle, end)) continue;
      found.push_back(entries_[middle - 1].cut);
      todo.emplace_back(begin, middle);
      todo.emplace_back(middle, end);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  struct ClassSide {
    double weight = 0;
    std::int64_t term = 0;
  };

  /// First entry of the right part of the split of least entropy; `end` if there is nothing to split.
  std::size_t best_cut(std::size_t begin, std::size_t end) {
    double total = 0;
    present_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const Entry& entry = entries_[i];
      if (right_entries_[entry.target]++ == 0) {
        present_.push_back(entry.target);
        left_[entry.target] = right_[entry.target] = {};
      }
      right_[entry.target].weight += entry.weight;
      total += entry.weight;
    }
    const std::size_t best = present_.size() < 2 ? end : scan(begin, end, total);
    for (const Code target : present_) right_entries_[target] = 0;
    return best;
  }

  std::size_t scan(std::size_t begin, std::size_t end, double total) {
    std::int64_t terms = 0;  // of all classes, left and right
    for (const Code target : present_) terms += right_[target].term = entropy_term(right_[target].weight / total);

    std::size_t best = end;
    std::int64_t least = 0;
    double left_total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (i % kStepsPerCheck == 0) check_stop();
      const Entry& entry = entries_[i];
      ClassSide& left = left_[entry.target];
      ClassSide& right = right_[entry.target];
      terms -= left.term + right.term;
      left.weight += entry.weight;
      // The last of a class leaves nothing, whatever rounding of fractional weights says.
      right.weight = --right_entries_[entry.target] == 0 ? 0.0 : std::max(0.0, right.weight - entry.weight);
      left.term = entropy_term(left.weight / total);
      right.term = entropy_term(right.weight / total);
      terms += left.term + right.term;
      left_total += entry.weight;
      if (!entry.ends_block || i + 1 == end) continue;
      const std::int64_t conditional_entropy =
          entropy_term(left_total / total) + entropy_term((total - left_total) / total) - terms;
      if (best == end || conditional_entropy < least - kTie) {
        best = i + 1;
        least = conditional_entropy;
      }
    }
    return best;
  }

  /// Whether the information gained by the split exceeds what describing it costs (their section 3).
  bool pays(std::size_t begin, std::size_t middle, std::size_t end) {
    const Purity whole = purity(begin, end);
    const Purity left = purity(begin, middle);
    const Purity right = purity(middle, end);
    const double gain = whole.entropy - (left.total * left.entropy + right.total * right.entropy) / whole.total;
    const double delta =
        log2_of_3_to_k_minus_2(whole.n_classes) -
        (whole.n_classes * whole.entropy - left.n_classes * left.entropy - right.n_classes * right.entropy);
    return gain > (std::log2(std::max(whole.total - 1, 1.0)) + delta) / whole.total;
  }

  static double log2_of_3_to_k_minus_2(double k) {
    // Up to 3^33 the power is exact in a double; beyond, the 2 is below the last bit long before the power overflows.
    return k <= 33 ? std::log2(std::pow(3.0, k) - 2) : k * std::log2(3.0);
  }

  Purity purity(std::size_t begin, std::size_t end) {
    present_.clear();
    Purity result;
    for (std::size_t i = begin; i < end; ++i) {
      const Entry& entry = entries_[i];
      if (right_entries_[entry.target]++ == 0) {
        present_.push_back(entry.target);
        right_[entry.target].weight = 0;
      }
      right_[entry.target].weight += entry.weight;
      result.total += entry.weight;
    }
    // A fixed order of the sum: permuting rows of whole weights changes nothing, not even the last bit.
    std::sort(present_.begin(), present_.end());
    for (const Code target : present_) {
      right_entries_[target] = 0;
      const double p = right_[target].weight / result.total;
      if (p > 0) result.entropy -= p * std::log2(p);
    }
    result.n_classes = static_cast<double>(present_.size());
    return result;
  }

  std::vector<Entry> entries_;
  std::vector<ClassSide> left_, right_;     // by class
  std::vector<std::size_t> right_entries_;  // entries of each class still on the right; all zero between searches
  std::vector<Code> present_;               // the classes of the current stretch
};

template <class AnyRow, class Make>
std::vector<double> cuts_of_rows(const NumberColumn& x, const Column& classes, std::span<const double> weights,
                                 Make make) {
  std::vector<Entry> entries;
  {
    std::vector<AnyRow> rows;
    rows.reserve(x.size());
    double total = 0;
    for_each_weighted_value(x, weights, [&](std::size_t row, double value, double weight) {
      rows.push_back(make(number_key(value), classes[row], weight));
      total += weight;
    });
    check_total_weight(total);
    sort_by_key(rows);
    entries = BlockBuilder(classes.n_values()).build(std::span<const AnyRow>(rows));
  }
  return Partitioner(std::move(entries), classes.n_values()).cuts();
}

}  // namespace

std::vector<double> mdl_cuts(const NumberColumn& x, const Column& classes, std::span<const double> weights) {
  if (classes.size() != x.size())
    throw InvalidInput("expected " + std::to_string(x.size()) + " classes, one per row, got " +
                       std::to_string(classes.size()));
  if (classes.has_missing()) throw InvalidInput("every row needs a class, but some class codes are missing");
  std::vector<double> cuts =
      weights.empty()
          ? cuts_of_rows<Row>(x, classes, weights, [](auto key, Code target, double) { return Row{key, target}; })
          : cuts_of_rows<WeightedRow>(x, classes, weights, [](auto key, Code target, double weight) {
              return WeightedRow{key, weight, target};
            });
  check_cuts(cuts);
  return cuts;
}

}  // namespace tanager
