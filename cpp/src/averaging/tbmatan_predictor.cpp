#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "averaging/tbmatan_pairs.hpp"
#include "averaging/tree_kernel.hpp"
#include "averaging/tree_plan.hpp"
#include "graph/scaled.hpp"
#include "inference/block.hpp"
#include "support/flush_subnormals.hpp"
#include "support/guarded.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/predictor.hpp"
#include "tanager/tbmatan.hpp"

namespace tanager {
namespace {

/// Rows per task; their codes stay in the cache.
constexpr std::size_t kBlockRows = 256;
/// A schedule of more than this part of all updates is not worth its indices.
constexpr std::uint64_t kSeedOfTrees = 20030101;

/// Codes of some rows, [row][feature], 16 bits wide.
class RowCodes {
 public:
  RowCodes(const CodeBatch& batch, std::size_t first, std::size_t rows, std::span<const std::uint32_t> cardinalities)
      : n_(cardinalities.size()), codes_(rows * n_), missing_(rows, 0) {
    for (std::size_t f = 0; f < n_; ++f) load(batch, first, rows, f, cardinalities[f]);
  }
  const Code* row(std::size_t i) const { return codes_.data() + i * n_; }
  bool is_complete(std::size_t i) const { return missing_[i] == 0; }

 private:
  void load(const CodeBatch& batch, std::size_t first, std::size_t rows, std::size_t f, std::uint32_t values) {
    if (const auto* columns = std::get_if<std::span<const CodeColumn>>(&batch.codes)) {
      const CodeColumn& column = (*columns)[f];
      if (column.wide)
        copy(static_cast<const std::uint16_t*>(column.codes) + first, 1, rows, f, values);
      else
        copy(static_cast<const std::uint8_t*>(column.codes) + first, 1, rows, f, values);
    } else if (const auto* wide = std::get_if<std::span<const Code>>(&batch.codes)) {
      copy(wide->data() + first * n_ + f, n_, rows, f, values);
    } else {
      copy(std::get<std::span<const std::uint8_t>>(batch.codes).data() + first * n_ + f, n_, rows, f, values);
    }
  }

  template <class T>
  void copy(const T* codes, std::size_t step, std::size_t rows, std::size_t f, std::uint32_t values) {
    for (std::size_t i = 0; i < rows; ++i) {
      const T code = codes[i * step];
      if (code < values) {
        codes_[i * n_ + f] = code;
        continue;
      }
      if (code != std::numeric_limits<T>::max())
        throw InvalidInput(
            join_text("feature ", f, " has code ", std::uint32_t{code}, ", but ", values, " values are known"));
      codes_[i * n_ + f] = kMissing;
      missing_[i] = 1;
    }
  }

  std::size_t n_;
  std::vector<Code> codes_;
  std::vector<std::uint8_t> missing_;
};

/// ln P(class) + sum of ln P(feature | class): what naive Bayes says.
class NaivePart {
 public:
  explicit NaivePart(const Tbmatan& model) : s_(model.n_classes()) {
    for (const double p : model.class_probabilities()) prior_.push_back(std::log(p));
    const double of_class = model.options().equivalent_sample_size / static_cast<double>(s_);
    for (std::size_t f = 0; f < model.n_features(); ++f) {
      begin_.push_back(logs_.size());
      const auto counts = model.counts().single(f);
      const std::size_t values = model.cardinalities()[f];
      for (std::size_t i = 0; i < values; ++i)
        for (std::size_t c = 0; c < s_; ++c) {
          double sum = 0;
          for (std::size_t k = 0; k < values; ++k) sum += counts[k * s_ + c];
          logs_.push_back(std::log((counts[i * s_ + c] + of_class / static_cast<double>(values)) / (sum + of_class)));
        }
    }
  }

  void write(const Code* row, double* out) const {
    std::copy(prior_.begin(), prior_.end(), out);
    for (std::size_t f = 0; f < begin_.size(); ++f) {
      const double* term = logs_.data() + begin_[f] + row[f] * s_;
      for (std::size_t c = 0; c < s_; ++c) out[c] += term[c];
    }
  }

 private:
  std::size_t s_;
  std::vector<double> prior_, logs_;
  std::vector<std::size_t> begin_;
};

/// Trees drawn from the posterior, for rows with too many missing cells.
struct SampledTrees {
  explicit SampledTrees(const Tbmatan& model) {
    const auto trees = sample_trees(model.edge_weights(), model.options().n_trees, kSeedOfTrees);
    std::map<std::vector<Edge>, std::size_t> times;
    for (const auto& tree : trees) ++times[tree];
    for (const auto& [tree, count] : times) {
      predictors.emplace_back(model.network_of(tree));
      log_shares.push_back(std::log(static_cast<double>(count) / static_cast<double>(trees.size())));
    }
  }

  std::vector<Predictor> predictors;
  std::vector<double> log_shares;
};

/// ln(e^a + e^b), either of which may be minus infinity.
double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

std::size_t dense_updates(std::size_t n) {
  return n * (n - 1) * (n - 2) / 6;
}

}  // namespace

struct TbmatanPredictor::State {
  State(const Tbmatan& given, Method wanted)
      : model(given), naive(given), log_tree_sum(tree_distribution(given.edge_weights()).log_sum), method(wanted) {
    if (method == Method::kAuto) method = lift_slack(model) > kMaxSlack ? Method::kExact : Method::kSchedule;
    if (method != Method::kExact) plan = make_tree_plan(model, method == Method::kSchedule);
    if (wanted == Method::kAuto && 2 * plan.updates.size() > dense_updates(plan.n_features) && plan.n_features > 2)
      method = Method::kDense;  // the same plan, but for the few updates that it lacks
    const std::size_t s = model.n_classes();
    while (rows_at_once * s % kTreeLanes != 0) ++rows_at_once;
  }

  Tbmatan model;
  NaivePart naive;
  double log_tree_sum;
  Method method;
  TreePlan plan;
  std::size_t rows_at_once = 1;  // so many fill whole vectors with all of their classes
  mutable Guarded<std::shared_ptr<const SampledTrees>> sampled;

  std::shared_ptr<const SampledTrees> trees() const {
    return sampled.with([&](auto& kept) {
      if (!kept) kept = std::make_shared<const SampledTrees>(model);
      return kept;
    });
  }

  /// ln P(class, row) for complete rows given by their codes, `out` is [row][class].
  void complete_rows(std::span<const Code* const> rows, TreeWorkspace& work, double* out) const {
    const std::size_t s = model.n_classes();
    for (std::size_t i = 0; i < rows.size(); ++i) naive.write(rows[i], out + i * s);
    if (model.n_features() < 2) return;
    if (method == Method::kExact) {
      for (std::size_t i = 0; i < rows.size(); ++i) add_exact(rows[i], out + i * s);
      return;
    }
    const FlushSubnormals flush;
    // Lanes are rows and classes in the order of `out`.
    const std::size_t n_lanes = rows.size() * s;
    double logs[kTreeLanes];
    for (std::size_t first = 0; first < n_lanes; first += kTreeLanes) {
      const std::size_t lanes = std::min(kTreeLanes, n_lanes - first);
      load(rows, first, lanes, work.weights());
      log_tree_sums(plan, work, logs, best_isa());
      for (std::size_t lane = 0; lane < lanes; ++lane) out[first + lane] += logs[lane] - log_tree_sum;
    }
  }

  void load(std::span<const Code* const> rows, std::size_t first, std::size_t lanes, double* weights) const {
    const std::size_t s = model.n_classes();
    for (const PlanEdge& edge : plan.edges) {
      double* to = weights + edge.slot * kTreeLanes;
      const double* table = plan.tables.data() + edge.table;
      const std::size_t values = model.cardinalities()[edge.v];
      std::size_t lane = 0, row = first / s, c = first % s;
      for (; lane < lanes; ++row, c = 0) {
        const double* cell = table + (rows[row][edge.u] * values + rows[row][edge.v]) * s;
        for (; c < s && lane < lanes; ++c, ++lane) to[lane] = cell[c];
      }
      for (; lane < kTreeLanes; ++lane) to[lane] = to[0];
    }
  }

  /// One row by arithmetic with an exponent for every number.
  void add_exact(const Code* row, double* out) const {
    const std::size_t n = model.n_features(), s = model.n_classes();
    std::vector<EdgeWeights> weights(s, EdgeWeights(n));
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        const auto lifts = pair_lifts(model.counts(), u, v, model.options().equivalent_sample_size);
        const double* cell = lifts.data() + (row[u] * model.cardinalities()[v] + row[v]) * s;
        for (std::size_t c = 0; c < s; ++c) {
          const Scaled weight = model.edge_weights()(u, v);
          if (weight.mantissa > 0) weights[c].set(u, v, weight * normalized({cell[c], 0}));
        }
      }
    for (std::size_t c = 0; c < s; ++c) out[c] += tree_sum(weights[c]).log() - log_tree_sum;
  }

  /// A row with missing cells.
  void incomplete_row(const Code* row, TreeWorkspace& work, double* out) const {
    const std::size_t n = model.n_features(), s = model.n_classes();
    std::vector<std::size_t> missing;
    for (std::size_t f = 0; f < n; ++f)
      if (row[f] == kMissing) missing.push_back(f);
    std::fill_n(out, s, -std::numeric_limits<double>::infinity());
    if (needs_sampling(missing)) {
      const auto sample = trees();
      std::vector<double> joint(s);
      for (std::size_t t = 0; t < sample->predictors.size(); ++t) {
        sample->predictors[t].predict({row, n}, Output::kLogJoint, joint);
        for (std::size_t c = 0; c < s; ++c) out[c] = log_sum(out[c], joint[c] + sample->log_shares[t]);
      }
      return;
    }
    // All assignments, as many at once as fill the vectors.
    std::vector<std::vector<Code>> filled;
    std::vector<Code> next(row, row + n);
    for (const std::size_t f : missing) next[f] = 0;
    std::vector<double> joint;
    for (bool more = true; more;) {
      filled.push_back(next);
      std::size_t digit = 0;
      while (digit < missing.size() && ++next[missing[digit]] == model.cardinalities()[missing[digit]])
        next[missing[digit++]] = 0;
      more = digit < missing.size();
      if (more && filled.size() < kBlockRows) continue;
      std::vector<const Code*> rows;
      for (const auto& codes : filled) rows.push_back(codes.data());
      joint.resize(rows.size() * s);
      complete_rows(rows, work, joint.data());
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < s; ++c) out[c] = log_sum(out[c], joint[i * s + c]);
      filled.clear();
    }
  }

  bool needs_sampling(std::span<const std::size_t> missing) const {
    double assignments = 1;
    for (const std::size_t f : missing) assignments *= std::max(1U, model.cardinalities()[f]);
    return assignments > static_cast<double>(model.options().max_assignments);
  }

  /// Log-joints of all rows, in blocks on several threads; `take(first, rows, joint)` receives them.
  template <class Take>
  void for_each_block(const CodeBatch& batch, int threads, Take take) const {
    const std::size_t s = model.n_classes();
    parallel_for(batch.n_rows, kBlockRows, threads, [&](std::size_t begin, std::size_t end) {
      const RowCodes codes(batch, begin, end - begin, model.cardinalities());
      TreeWorkspace work(plan);
      std::vector<double> joint((end - begin) * s);
      // Runs of complete rows are taken together.
      std::vector<const Code*> run;
      for (std::size_t i = 0; i <= end - begin; ++i) {
        if (i < end - begin && codes.is_complete(i)) {
          run.push_back(codes.row(i));
          continue;
        }
        complete_rows(run, work, joint.data() + (i - run.size()) * s);
        run.clear();
        if (i < end - begin) incomplete_row(codes.row(i), work, joint.data() + i * s);
      }
      take(begin, end - begin, joint.data());
    });
  }
};

TbmatanPredictor::TbmatanPredictor(const Tbmatan& model, Method method)
    : state_(std::make_unique<const State>(model, method)) {}
TbmatanPredictor::~TbmatanPredictor() = default;
TbmatanPredictor::TbmatanPredictor(TbmatanPredictor&&) noexcept = default;
TbmatanPredictor& TbmatanPredictor::operator=(TbmatanPredictor&&) noexcept = default;

std::size_t TbmatanPredictor::n_features() const {
  return state_->model.n_features();
}

std::uint32_t TbmatanPredictor::n_classes() const {
  return state_->model.n_classes();
}

TbmatanPredictor::Method TbmatanPredictor::method() const {
  return state_->method;
}

std::size_t TbmatanPredictor::n_edges() const {
  return state_->plan.edges.size();
}

std::size_t TbmatanPredictor::n_steps() const {
  return state_->plan.updates.size();
}

bool TbmatanPredictor::is_estimate(std::span<const std::size_t> missing_features) const {
  for (const std::size_t f : missing_features)
    if (f >= n_features())
      throw InvalidInput(join_text("features are numbered below ", n_features(), ", but one is ", f));
  return state_->needs_sampling(missing_features);
}

void TbmatanPredictor::run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const {
  const std::uint32_t s = n_classes();
  state_->for_each_block(batch, threads, [&](std::size_t first, std::size_t rows, double* joint) {
    finish_block(joint, rows, s, output, best_isa());
    std::copy_n(joint, rows * s, out.data() + first * s);
  });
}

void TbmatanPredictor::run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const {
  const std::uint32_t s = n_classes();
  state_->for_each_block(batch, threads, [&](std::size_t first, std::size_t rows, const double* joint) {
    for (std::size_t i = 0; i < rows; ++i)
      out[first + i] =
          static_cast<std::uint32_t>(std::max_element(joint + i * s, joint + (i + 1) * s) - (joint + i * s));
  });
}

}  // namespace tanager
