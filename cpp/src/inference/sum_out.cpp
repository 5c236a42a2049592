#include "inference/sum_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "support/text.hpp"
#include "support/vector_exp.hpp"
#include "tanager/errors.hpp"

namespace tanager {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// More joint values than this are refused: a row would take seconds.
constexpr std::uint64_t kMaxJointValues = std::uint64_t{1} << 22;

/// ln sum_x exp(a[x][c] + b[x][c]) for a class c; both are [n][s].
double log_sum_exp(const double* a, const double* b, std::size_t n, std::size_t s, std::size_t c) {
  double largest = kMinusInfinity;
  for (std::size_t x = 0; x < n; ++x) largest = std::max(largest, a[x * s + c] + b[x * s + c]);
  if (largest == kMinusInfinity) return kMinusInfinity;
  double sum = 0;
  for (std::size_t x = 0; x < n; ++x) sum += vector_exp(a[x * s + c] + b[x * s + c] - largest);
  return largest + std::log(sum);
}

/// Running ln of a sum of exponentials.
struct LogSum {
  double largest = kMinusInfinity;
  double sum = 0;  // of exp(term - largest)

  void add(double term) {
    if (term == kMinusInfinity) return;
    if (term <= largest) {
      sum += vector_exp(term - largest);
    } else {
      sum = sum * (largest == kMinusInfinity ? 0.0 : vector_exp(largest - term)) + 1;
      largest = term;
    }
  }
  double value() const { return sum > 0 ? largest + std::log(sum) : kMinusInfinity; }
};

}  // namespace

SummingOut::SummingOut(const Structure& structure, std::span<const std::uint32_t> cardinalities,
                       std::vector<double> log_prior, std::span<const std::vector<double>> log_tables)
    : structure_(structure),
      one_dependence_(structure.is_one_dependence()),
      cardinalities_(cardinalities),
      log_prior_(std::move(log_prior)),
      log_tables_(log_tables),
      message_offsets_(structure.n_features() + 1, 0) {
  // Only parents receive messages.
  std::vector<bool> is_parent(structure.n_features(), false);
  for (std::size_t f = 0; f < structure.n_features(); ++f)
    for (const std::size_t p : structure.parents(f)) is_parent[p] = true;
  for (std::size_t f = 0; f < structure.n_features(); ++f)
    message_offsets_[f + 1] = message_offsets_[f] + (is_parent[f] ? cardinalities[f] * log_prior_.size() : 0);
}

void SummingOut::log_joint(std::span<const Code> row, std::span<double> out, Workspace& work) const {
  if (one_dependence_)
    pass_messages(row, out, work);
  else
    enumerate(row, out, work);
}

// Children before parents. An observed feature's term goes to the sums, or, if its parent is missing, to that parent's
// message, which holds ln P(everything observed below | parent's value, class). A missing feature that heard nothing
// from below sums to one; any other is summed out as soon as its turn comes. O(n r^2 s) at worst.
void SummingOut::pass_messages(std::span<const Code> row, std::span<double> out, Workspace& work) const {
  const std::size_t s = log_prior_.size();
  work.messages.resize(message_offsets_.back());
  work.active.assign(structure_.n_features(), 0);
  std::copy(log_prior_.begin(), log_prior_.end(), out.begin());

  const auto message_to = [&](std::size_t feature) {
    double* message = work.messages.data() + message_offsets_[feature];
    if (!work.active[feature]) std::fill_n(message, cardinalities_[feature] * s, 0.0);
    work.active[feature] = 1;
    return message;
  };
  const auto& order = structure_.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::size_t feature = *it;
    const bool missing = row[feature] == kMissing;
    if (missing && !work.active[feature]) continue;
    const std::size_t values = cardinalities_[feature];
    const double* below = work.messages.data() + message_offsets_[feature];
    const double* table = log_tables_[feature].data();
    const auto add_term = [&](const double* given, double* to) {  // `given` is [value][class] for one parent value
      if (missing)
        for (std::size_t c = 0; c < s; ++c) to[c] += log_sum_exp(given, below, values, s, c);
      else
        for (std::size_t c = 0; c < s; ++c) to[c] += given[row[feature] * s + c];
    };
    const auto& parents = structure_.parents(feature);
    if (parents.empty()) {
      add_term(table, out.data());
    } else if (row[parents[0]] != kMissing) {
      add_term(table + row[parents[0]] * values * s, out.data());
    } else {
      double* above = message_to(parents[0]);
      for (std::size_t x = 0; x < cardinalities_[parents[0]]; ++x) add_term(table + x * values * s, above + x * s);
    }
  }
}

const double* SummingOut::term(std::size_t feature, std::span<const Code> row) const {
  std::size_t index = 0;
  for (const std::size_t p : structure_.parents(feature)) index = index * cardinalities_[p] + row[p];
  index = index * cardinalities_[feature] + row[feature];
  return log_tables_[feature].data() + index * log_prior_.size();
}

void SummingOut::enumerate(std::span<const Code> row, std::span<double> out, Workspace& work) const {
  const std::size_t s = log_prior_.size();
  work.row.assign(row.begin(), row.end());
  // A missing feature matters only if something observed lies below it; all others sum to one.
  work.active.assign(row.size(), 0);
  const auto& order = structure_.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (row[*it] != kMissing || work.active[*it])
      for (const std::size_t p : structure_.parents(*it)) work.active[p] = 1;
  work.missing.clear();
  std::uint64_t joint_values = 1;
  for (std::size_t f = 0; f < row.size(); ++f) {
    if (row[f] != kMissing || !work.active[f]) continue;
    work.missing.push_back(f);
    work.row[f] = 0;
    joint_values *= cardinalities_[f];
    if (joint_values > kMaxJointValues)
      throw InvalidInput(join_text("the missing features of a row have more than ", kMaxJointValues,
                                   " joint values to sum over; at most that many are possible in a network whose "
                                   "features have more than one feature parent"));
  }
  std::vector<LogSum> sums(s);
  work.terms.resize(s);
  for (std::uint64_t i = 0; i < joint_values; ++i) {
    work.terms = log_prior_;
    for (const std::size_t f : order) {
      if (work.row[f] == kMissing) continue;
      const double* t = term(f, work.row);
      for (std::size_t c = 0; c < s; ++c) work.terms[c] += t[c];
    }
    for (std::size_t c = 0; c < s; ++c) sums[c].add(work.terms[c]);
    for (const std::size_t f : work.missing) {
      if (++work.row[f] < cardinalities_[f]) break;
      work.row[f] = 0;
    }
  }
  for (std::size_t c = 0; c < s; ++c) out[c] = sums[c].value();
}

}  // namespace tanager
