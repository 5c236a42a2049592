// Goal and gradient over all rows. Both goals need, of every row and class, a weight a_c and the posterior of each
// family's values given the class: a_c is the row's weight for its own class and zero for others where rows are to be
// probable, and the weight times [c is the class] - P(c | row) where classes are (proposition 3, summed over the values
// of the class). The sums over rows of a_c times the posterior are the counts n, and n - theta sum of n the gradient.
//
// Where rows are to be probable, families that are observed as a whole count the same whatever the parameters: they are
// counted once, and a pass over the rows looks only at what is missing.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "inference/forest.hpp"
#include "parameters/class_prior.hpp"
#include "parameters/from_counts.hpp"
#include "rows/complete_rows.hpp"
#include "rows/scaled_messages.hpp"
#include "rows/softmax_families.hpp"
#include "simd/with_constant.hpp"
#include "support/infinity.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/inference.hpp"
#include "tanager/learn_rows.hpp"

namespace tanager {

using namespace internal;

namespace {

// Rows are summed up in pieces: as few as pay, at most so many, and fewer where tables are large.
constexpr std::size_t kMostPieces = 64;
constexpr std::size_t kLeastCompleteRows = 2048, kLeastIncompleteRows = 128;
constexpr std::size_t kMostSums = std::size_t{1} << 25;  // numbers in the tables of all pieces
constexpr std::size_t kMostTables = std::size_t{1} << 30;
// Work below this, in additions, is done before another thread has started.
constexpr std::size_t kWorthThreads = 200'000;

int worthwhile(int threads, std::size_t cost) {
  return cost < kWorthThreads ? 1 : threads;
}

std::size_t piece_rows(std::size_t rows, std::size_t least, std::size_t cells) {
  const std::size_t pieces = std::clamp<std::size_t>(kMostSums / std::max<std::size_t>(cells, 1), 1, kMostPieces);
  return std::max(least, (rows + pieces - 1) / pieces);
}

/// Evaluates rows in pieces, evaluate(begin, end, sums of the piece), and adds up what they give in their order.
template <class Evaluate>
RowEvaluation evaluate_pieces(std::size_t rows, std::size_t piece, int threads, std::span<double> sums,
                              Evaluate evaluate) {
  const std::size_t cells = sums.size();
  std::vector<RowEvaluation> found((rows + piece - 1) / piece);
  std::vector<double> of_pieces(found.size() * cells, 0.0);
  parallel_for(rows, piece, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t at = begin / piece;
    found[at] = evaluate(begin, end, std::span(of_pieces).subspan(at * cells, cells));
  });
  RowEvaluation all;
  for (std::size_t at = 0; at < found.size(); ++at) {
    all.value += found[at].value;
    all.wrong += found[at].wrong;
    for (std::size_t i = 0; i < cells; ++i) sums[i] += of_pieces[at * cells + i];
  }
  return all;
}

/// ln of the sum of e^x, and the weights of derivatives of x[truth] less that.
double evaluate_row(std::span<double> logs, std::size_t truth, double weight, RowEvaluation& evaluation) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(logs) - logs.begin());
  const double largest = logs[best], own = logs[truth];
  if (best != truth) evaluation.wrong += weight;
  if (own == kMinusInfinity) {  // the given class prior says that there is no such row: nothing can help
    std::ranges::fill(logs, 0.0);
    return 0;
  }
  double total = 0;
  for (double& x : logs) total += x = std::exp(x - largest);
  for (double& x : logs) x *= -weight / total;
  logs[truth] += weight;
  return weight * (own - largest - std::log(total));
}

}  // namespace

class RowLikelihood::State {
 public:
  State(const Structure& structure, const Dataset& data, RowGoal goal, std::vector<double> class_prior,
        std::uint64_t max_cells);

  const SoftmaxFamilies& families() const { return families_; }
  double total_weight() const { return total_weight_; }
  const std::vector<double>& class_prior() const { return class_prior_; }
  /// Counts are added where there is room for them.
  RowEvaluation count(std::span<const double> probabilities, std::span<const double> logs, std::span<double> counts,
                      int threads) const;
  void check_size(std::size_t n, const char* what) const;

 private:
  void check(const Dataset& data) const;
  void split_rows(const Dataset& data);
  void count_observed(const Dataset& data);
  RowEvaluation evaluate_complete(std::span<const double> logs, std::span<double> sums, int threads) const;
  RowEvaluation evaluate_incomplete(std::span<const double> probabilities, std::span<const double> logs,
                                    std::span<double> sums, int threads) const;
  RowEvaluation evaluate_forest(std::span<const double> probabilities, std::span<const double> logs, std::size_t begin,
                                std::size_t end, std::span<double> sums) const;
  RowEvaluation evaluate_any(const InferenceTables& tables, std::size_t begin, std::size_t end,
                             std::span<double> sums) const;
  InferenceTables inference_tables(std::span<const double> probabilities, std::span<const double> logs) const;

  SoftmaxFamilies families_;
  RowGoal goal_;
  std::vector<double> class_prior_;
  double total_weight_ = 0;
  std::vector<std::size_t> complete_rows_, incomplete_rows_;
  std::optional<CompleteRows> complete_;  // for the conditional likelihood
  std::vector<double> observed_;          // expanded counts, for the likelihood
  std::vector<Code> codes_;               // of the incomplete rows, [row][feature]
  std::vector<std::uint16_t> classes_;    // of the incomplete rows
  std::vector<double> weights_;           // likewise
  std::optional<Forest> forest_;          // one of these, if there are incomplete rows
  std::optional<Inference> inference_;
};

RowLikelihood::State::State(const Structure& structure, const Dataset& data, RowGoal goal,
                            std::vector<double> class_prior, std::uint64_t max_cells)
    : families_(structure, data.cardinalities(), data.n_classes()), goal_(goal), class_prior_(std::move(class_prior)) {
  check(data);
  for (std::size_t row = 0; row < data.n_rows(); ++row) total_weight_ += data.is_weighted() ? data.weights()[row] : 1.0;
  split_rows(data);
  if (goal_ == RowGoal::kConditionalLikelihood)
    complete_.emplace(families_, data, complete_rows_);
  else
    count_observed(data);
  if (incomplete_rows_.empty()) return;
  if (Forest::fits(structure))
    forest_.emplace(structure, families_.cardinalities(), families_.n_classes());
  else
    inference_.emplace(structure, families_.cardinalities(), data.n_classes(), max_cells);
  const std::size_t n = data.n_features();
  codes_.resize(incomplete_rows_.size() * n);
  for (std::size_t f = 0; f < n; ++f)
    for (std::size_t i = 0; i < incomplete_rows_.size(); ++i) codes_[i * n + f] = data.feature(f)[incomplete_rows_[i]];
  for (const std::size_t row : incomplete_rows_) {
    classes_.push_back(data.target()[row]);
    weights_.push_back(data.is_weighted() ? data.weights()[row] : 1.0);
  }
}

void RowLikelihood::State::check(const Dataset& data) const {
  const Structure& structure = families_.structure();
  if (structure.n_features() != data.n_features())
    throw InvalidInput(
        join_text("the structure has ", structure.n_features(), " features, but the rows have ", data.n_features()));
  if (families_.n_expanded() > kMostTables)
    throw InvalidInput(join_text("the tables of all families have ", families_.n_expanded(), " cells, but at most ",
                                 kMostTables, " are possible"));
  if (class_prior_.empty()) return;
  check_class_prior(class_prior_, data.n_classes());
  if (!structure.class_parents().empty())
    throw InvalidInput(
        join_text("class probabilities cannot be given where the class depends on features, but feature ",
                  structure.class_parents().front(), " is its parent"));
}

void RowLikelihood::State::split_rows(const Dataset& data) {
  std::vector<std::uint8_t> incomplete(data.n_rows(), 0);
  for (const std::size_t f : families_.structure().order())
    if (const Column& column = data.feature(f); column.has_missing())
      for (std::size_t row = 0; row < incomplete.size(); ++row)
        if (column[row] == kMissing) incomplete[row] = 1;
  for (std::size_t row = 0; row < incomplete.size(); ++row)
    if (!data.is_weighted() || data.weights()[row] > 0)  // zero times ln 0 would be no number
      (incomplete[row] ? incomplete_rows_ : complete_rows_).push_back(row);
}

/// Families that are observed as a whole, of all rows; where general inference does the incomplete ones, of the
/// complete.
void RowLikelihood::State::count_observed(const Dataset& data) {
  observed_.assign(families_.n_expanded(), 0.0);
  const std::size_t n_classes = families_.n_classes();
  const bool forest = Forest::fits(families_.structure());
  for (const FamilyBlock& block : families_.blocks()) {
    double* cells = observed_.data() + block.expanded;
    const auto add = [&](std::size_t row) {
      std::size_t cell = 0;
      for (const std::size_t f : block.members) {
        const Code value = data.feature(f)[row];
        if (value == kMissing) return;
        cell = cell * families_.cardinalities()[f] + value;
      }
      cells[cell * n_classes + data.target()[row]] += data.is_weighted() ? data.weights()[row] : 1.0;
    };
    if (forest)
      for (std::size_t row = 0; row < data.n_rows(); ++row) add(row);
    else
      for (const std::size_t row : complete_rows_) add(row);
  }
}

RowEvaluation RowLikelihood::State::count(std::span<const double> probabilities, std::span<const double> logs,
                                          std::span<double> counts, int threads) const {
  const std::size_t size = families_.n_expanded();
  std::vector<double> wide_probabilities, wide_logs(size), sums(counts.empty() ? 0 : size, 0.0);
  families_.expand(logs, wide_logs);
  // A class distribution that is given makes no rows more probable than others, nor may it make them impossible.
  const std::size_t of_class = families_.blocks().back().expanded;
  const bool drops_class = goal_ == RowGoal::kLikelihood && !class_prior_.empty();
  if (drops_class) std::ranges::fill(std::span(wide_logs).subspan(of_class), 0.0);
  RowEvaluation evaluation;
  if (complete_) evaluation = evaluate_complete(wide_logs, sums, threads);
  for (std::size_t i = 0; i < observed_.size(); ++i) {
    if (observed_[i] == 0) continue;  // ln 0 may stand beside it
    evaluation.value += observed_[i] * wide_logs[i];
    if (!sums.empty()) sums[i] += observed_[i];
  }
  if (!incomplete_rows_.empty()) {
    wide_probabilities.resize(size);
    families_.expand(probabilities, wide_probabilities);
    if (drops_class) std::ranges::fill(std::span(wide_probabilities).subspan(of_class), 1.0);
    const RowEvaluation more = evaluate_incomplete(wide_probabilities, wide_logs, sums, threads);
    evaluation.value += more.value;
    evaluation.wrong += more.wrong;
  }
  if (counts.empty()) return evaluation;
  families_.contract(sums, counts);
  if (!class_prior_.empty()) std::ranges::fill(counts.subspan(families_.blocks().back().offset), 0.0);
  return evaluation;
}

RowEvaluation RowLikelihood::State::evaluate_complete(std::span<const double> logs, std::span<double> sums,
                                                      int threads) const {
  const std::vector<double> joined = complete_->joined(logs);
  std::vector<double> slopes(sums.empty() ? 0 : complete_->n_cells(), 0.0);
  const std::size_t piece = piece_rows(complete_->n_rows(), kLeastCompleteRows, complete_->n_cells());
  const RowEvaluation evaluation =
      evaluate_pieces(complete_->n_rows(), piece, worthwhile(threads, complete_->cost()), slopes,
                      [&, isa = best_isa()](std::size_t begin, std::size_t end, std::span<double> own) {
                        return complete_->evaluate(joined, begin, end, own, isa);
                      });
  if (!slopes.empty()) complete_->split(slopes, sums);
  return evaluation;
}

RowEvaluation RowLikelihood::State::evaluate_incomplete(std::span<const double> probabilities,
                                                        std::span<const double> logs, std::span<double> sums,
                                                        int threads) const {
  const std::size_t rows = incomplete_rows_.size();
  std::optional<InferenceTables> tables;
  if (inference_) tables = inference_tables(probabilities, logs);
  const std::size_t cost = rows * families_.blocks().size() * families_.n_classes() * 4;
  return evaluate_pieces(rows, piece_rows(rows, kLeastIncompleteRows, families_.n_expanded()),
                         worthwhile(threads, cost), sums,
                         [&](std::size_t begin, std::size_t end, std::span<double> own) {
                           return inference_ ? evaluate_any(*tables, begin, end, own)
                                             : evaluate_forest(probabilities, logs, begin, end, own);
                         });
}

RowEvaluation RowLikelihood::State::evaluate_forest(std::span<const double> probabilities, std::span<const double> logs,
                                                    std::size_t begin, std::size_t end, std::span<double> sums) const {
  const std::size_t n = families_.cardinalities().size(), n_classes = families_.n_classes();
  ScaledMessages messages(*forest_, families_, probabilities, logs, sums);
  std::vector<double> joint(n_classes);
  RowEvaluation evaluation;
  for (std::size_t row = begin; row < end; ++row) {
    const Code* codes = codes_.data() + row * n;
    const double weight = weights_[row];
    if (goal_ == RowGoal::kLikelihood) {
      joint[0] = 0;
      messages.set_classes(classes_[row], 1, joint.data());
      forest_->collect<1>(codes, false, messages);
      evaluation.value += weight * joint[0];
      if (!sums.empty()) forest_->spread<1>(codes, false, &weight, messages);
      continue;
    }
    std::ranges::fill(joint, 0.0);
    messages.set_classes(0, n_classes, joint.data());
    with_constant<1, 2, 3, 4>(n_classes, [&](auto n) {
      constexpr std::size_t kClasses = decltype(n)::value;
      forest_->collect<kClasses>(codes, true, messages);
      evaluation.value += evaluate_row(joint, classes_[row], weight, evaluation);
      if (!sums.empty()) forest_->spread<kClasses>(codes, true, joint.data(), messages);
    });
  }
  return evaluation;
}

RowEvaluation RowLikelihood::State::evaluate_any(const InferenceTables& tables, std::size_t begin, std::size_t end,
                                                 std::span<double> sums) const {
  const std::size_t n = families_.cardinalities().size(), n_classes = families_.n_classes();
  Inference::Workspace work;
  FamilyTables posteriors;
  if (!sums.empty()) posteriors = inference_->zero_tables();
  std::vector<double> joint(n_classes);
  RowEvaluation evaluation;
  for (std::size_t row = begin; row < end; ++row) {
    const std::span<const Code> codes(codes_.data() + row * n, n);
    if (sums.empty())
      inference_->log_evidence(tables, codes, work, joint);
    else
      inference_->collect(tables, codes, work, joint);
    if (goal_ == RowGoal::kLikelihood) {
      evaluation.value += weights_[row] * joint[classes_[row]];
      std::ranges::fill(joint, 0.0);
      joint[classes_[row]] = weights_[row];
    } else {
      evaluation.value += evaluate_row(joint, classes_[row], weights_[row], evaluation);
    }
    if (!sums.empty()) inference_->add_family_posteriors(tables, joint, work, posteriors);
  }
  if (!sums.empty())
    for (const FamilyBlock& block : families_.blocks())
      std::ranges::copy(posteriors[block.feature], sums.begin() + static_cast<std::ptrdiff_t>(block.expanded));
  return evaluation;
}

InferenceTables RowLikelihood::State::inference_tables(std::span<const double> probabilities,
                                                       std::span<const double> logs) const {
  const auto cut = [&](std::span<const double> from) {
    FamilyTables tables(families_.cardinalities().size() + 1);
    for (const FamilyBlock& block : families_.blocks()) {
      const auto own = from.subspan(block.expanded, block.cells * families_.n_classes());
      tables[block.feature].assign(own.begin(), own.end());
    }
    return tables;
  };
  InferenceTables tables{FamilyTables{}};
  tables.probabilities = cut(probabilities);
  tables.logs = cut(logs);
  return tables;
}

void RowLikelihood::State::check_size(std::size_t n, const char* what) const {
  if (n != families_.n_parameters())
    throw InvalidInput(join_text("expected ", families_.n_parameters(), " ", what, ", got ", n));
}

RowLikelihood::RowLikelihood(const Structure& structure, const Dataset& data, RowGoal goal,
                             std::vector<double> class_prior, std::uint64_t max_cells)
    : state_(std::make_shared<const State>(structure, data, goal, std::move(class_prior), max_cells)) {}

std::size_t RowLikelihood::n_parameters() const {
  return state_->families().n_parameters();
}

double RowLikelihood::total_weight() const {
  return state_->total_weight();
}

std::vector<double> RowLikelihood::parameters(const Network& network) const {
  const SoftmaxFamilies& families = state_->families();
  if (network.structure() != families.structure() || network.n_classes() != families.n_classes() ||
      !std::ranges::equal(network.cardinalities(), families.cardinalities()))
    throw InvalidInput("the network must have the structure and the variables of the rows, but has others");
  return families.parameters(network);
}

Network RowLikelihood::network(std::span<const double> parameters) const {
  state_->check_size(parameters.size(), "parameters");
  std::vector<double> probabilities(parameters.size()), logs(parameters.size());
  state_->families().normalize(parameters, probabilities, logs);
  // Given ones are kept to the last bit.
  if (const auto& prior = state_->class_prior(); !prior.empty())
    std::ranges::copy(prior, probabilities.end() - static_cast<std::ptrdiff_t>(prior.size()));
  return state_->families().network(probabilities);
}

RowEvaluation RowLikelihood::evaluate(std::span<const double> parameters, std::span<double> gradient,
                                      int threads) const {
  state_->check_size(parameters.size(), "parameters");
  if (!gradient.empty()) state_->check_size(gradient.size(), "derivatives");
  std::vector<double> probabilities(parameters.size()), logs(parameters.size());
  state_->families().normalize(parameters, probabilities, logs);
  const RowEvaluation evaluation = state_->count(probabilities, logs, gradient, threads);
  if (!gradient.empty()) state_->families().to_gradient(probabilities, gradient);
  return evaluation;
}

RowEvaluation RowLikelihood::expect(std::span<const double> probabilities, std::span<double> counts,
                                    int threads) const {
  state_->check_size(probabilities.size(), "probabilities");
  if (!counts.empty()) state_->check_size(counts.size(), "counts");
  std::vector<double> logs(probabilities.size());
  std::ranges::transform(probabilities, logs.begin(), [](double p) { return std::log(p); });
  return state_->count(probabilities, logs, counts, threads);
}

}  // namespace tanager
