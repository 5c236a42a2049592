#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "graph/scaled.hpp"
#include "predict/code_batch.hpp"
#include "predict/lookup_kernels.hpp"
#include "simd/flush_subnormals.hpp"
#include "simd/with_constant.hpp"
#include "support/check_stop.hpp"
#include "support/parallel.hpp"
#include "support/synchronized.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/network_predictor.hpp"
#include "tanager/tbmatan.hpp"
#include "tbmatan/pairs.hpp"
#include "tbmatan/tree_kernel.hpp"
#include "tbmatan/tree_plan.hpp"

namespace tanager {

using namespace internal;

namespace {

/// Rows per task; their codes stay in the cache.
constexpr std::size_t kBlockRows = 256;
/// Steps for one sum over trees, times sums, between two looks at whether to go on.
constexpr std::size_t kWorkBetweenLooks = std::size_t{1} << 22;

InvalidInput unknown_code(std::size_t feature, std::uint32_t code, std::uint32_t values) {
  return InvalidInput(join_text("feature ", feature, " has code ", code, ", but ", values, " values are known"));
}

/// Codes of some rows, [feature][row], 16 bits wide.
class RowCodes {
 public:
  RowCodes(const CodeBatch& batch, std::size_t first, std::size_t rows, std::span<const std::uint32_t> cardinalities)
      : n_(cardinalities.size()), rows_(rows), codes_(rows * n_), missing_(rows, 0) {
    for (std::size_t f = 0; f < n_; ++f)
      with_codes(batch, n_, f, first,
                 [&](const auto* codes, std::size_t step) { copy(codes, step, rows, f, cardinalities[f]); });
  }
  /// Of feature f in row i: at f * stride() + i.
  const Code* columns() const { return codes_.data(); }
  std::size_t stride() const { return rows_; }
  bool is_complete(std::size_t i) const { return missing_[i] == 0; }
  void copy_row(std::size_t i, std::vector<Code>& row) const {
    row.resize(n_);
    for (std::size_t f = 0; f < n_; ++f) row[f] = codes_[f * rows_ + i];
  }

 private:
  template <class T>
  void copy(const T* codes, std::size_t step, std::size_t rows, std::size_t f, std::uint32_t values) {
    for (std::size_t i = 0; i < rows; ++i) {
      const T code = codes[i * step];
      if (code < values) {
        codes_[f * rows_ + i] = code;
        continue;
      }
      if (code != std::numeric_limits<T>::max()) throw unknown_code(f, code, values);
      codes_[f * rows_ + i] = kMissing;
      missing_[i] = 1;
    }
  }

  std::size_t n_, rows_;
  std::vector<Code> codes_;
  std::vector<std::uint8_t> missing_;
};

/// ln P(class) + sum of ln P(feature | class): what naive Bayes says.
class NaivePart {
 public:
  explicit NaivePart(const Tbmatan& model) : n_classes_(model.n_classes()) {
    for (const double p : model.class_probabilities()) prior_.push_back(std::log(p));
    const double of_class = model.options().equivalent_sample_size / static_cast<double>(n_classes_);
    for (std::size_t f = 0; f < model.n_features(); ++f) {
      begin_.push_back(logs_.size());
      const auto counts = model.counts().single(f);
      const std::size_t values = model.cardinalities()[f];
      std::vector<double> sums(n_classes_, 0.0);
      for (std::size_t at = 0; at < counts.size(); ++at) sums[at % n_classes_] += counts[at];
      for (std::size_t at = 0; at < counts.size(); ++at)
        logs_.push_back(
            std::log((counts[at] + of_class / static_cast<double>(values)) / (sums[at % n_classes_] + of_class)));
    }
  }

  void write(const Code* columns, std::size_t stride, std::size_t n_rows, double* out) const {
    with_constant<2, 3, 4, 5, 6>(n_classes_, [&](auto n_classes) {
      if constexpr (n_classes > 0)
        write_few<n_classes>(columns, stride, n_rows, out);
      else
        write_any(columns, stride, n_rows, out);
    });
  }

 private:
  void write_any(const Code* columns, std::size_t stride, std::size_t n_rows, double* out) const {
    for (std::size_t i = 0; i < n_rows; ++i) {
      std::copy(prior_.begin(), prior_.end(), out + i * n_classes_);
      for (std::size_t f = 0; f < begin_.size(); ++f) {
        const double* term = logs_.data() + begin_[f] + columns[f * stride + i] * n_classes_;
        for (std::size_t c = 0; c < n_classes_; ++c) out[i * n_classes_ + c] += term[c];
      }
    }
  }

  /// The same for a few classes, whose sums stay in registers.
  template <std::size_t kClasses>
  void write_few(const Code* columns, std::size_t stride, std::size_t n_rows, double* out) const {
    for (std::size_t i = 0; i < n_rows; ++i, out += kClasses) {
      double sums[kClasses];
      std::copy_n(prior_.data(), kClasses, sums);
      for (std::size_t f = 0; f < begin_.size(); ++f) {
        const double* term = logs_.data() + begin_[f] + columns[f * stride + i] * kClasses;
        for (std::size_t c = 0; c < kClasses; ++c) sums[c] += term[c];
      }
      std::copy_n(sums, kClasses, out);
    }
  }

  std::size_t n_classes_;
  std::vector<double> prior_, logs_;
  std::vector<std::size_t> begin_;
};

/// Trees drawn from the posterior, for rows with too many missing cells.
struct SampledTrees {
  explicit SampledTrees(const Tbmatan& model) {
    const std::size_t n_trees = model.options().n_trees;
    const TreeSampler sampler(model.edge_weights());
    std::map<std::vector<Edge>, std::size_t> times;
    Room room(model);
    for (std::size_t first = 0; first < n_trees; first += kTreesAtOnce) {
      check_stop();
      for (auto& tree : sampler.draw(first, std::min(kTreesAtOnce, n_trees - first), TbmatanPredictor::kTreeSeed))
        if (++times[std::move(tree)] == 1) room.take(0);
    }
    for (const auto& [tree, count] : times) {
      check_stop();
      const Network network = model.network_of(tree);
      std::size_t cells = 0;
      for (std::size_t f = 0; f < network.n_features(); ++f) cells += network.table(f).size();
      room.take(cells);
      predictors.emplace_back(network);
      log_shares.push_back(std::log(static_cast<double>(count) / static_cast<double>(n_trees)));
    }
  }

  std::vector<NetworkPredictor> predictors;
  std::vector<double> log_shares;

 private:
  /// Drawn before it is seen whether they are the same.
  static constexpr std::size_t kTreesAtOnce = 1024;

  /// What trees may take: enough for as many as are drawn unless told otherwise, whatever the tables; but a small model
  /// cannot ask for gigabytes.
  class Room {
   public:
    explicit Room(const Tbmatan& model)
        : of_tree_(kBytesPerFeature * static_cast<double>(model.n_features())),
          most_(std::max(kFreeBytes, kFreeTrees * (of_tree_ + kBytesPerCell * static_cast<double>(
                                                                                  model.counts().cells().size())))) {}

    /// Of another tree: with no cells as drawn, and then with those of its tables.
    void take(std::size_t cells) {
      taken_ += cells == 0 ? of_tree_ : kBytesPerCell * static_cast<double>(cells);
      n_trees_ += cells == 0 ? 1 : 0;
      if (taken_ > most_)
        throw InvalidInput(join_text("the trees that rows with many missing values are averaged over take more than ",
                                     std::round(most_ / 1e6), " MB, though there are only ", n_trees_,
                                     " different ones so far: set n_trees to less"));
    }

   private:
    static constexpr double kFreeBytes = 600e6;
    static constexpr double kFreeTrees = 200;         // TbmatanOptions::n_trees, unless it is set
    static constexpr double kBytesPerFeature = 1300;  // measured, but for the cells
    static constexpr double kBytesPerCell = 24;

    double of_tree_, most_, taken_ = 0;
    std::size_t n_trees_ = 0;
  };
};

/// ln(e^a + e^b), either of which may be minus infinity.
double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

/// What one thread needs.
struct RowBuffers {
  explicit RowBuffers(const TreePlan& plan) : lanes(plan) {}

  TreeLanes lanes;
  // Of a row with missing values:
  std::vector<Code> row;
  std::vector<std::size_t> missing;
  std::vector<Code> columns;  // [feature][assignment]
  std::vector<double> joint;
  Predictor::Scratch tree;
};

/// Features whose code is missing.
void find_missing(std::span<const Code> row, std::vector<std::size_t>& missing) {
  missing.clear();
  for (std::size_t f = 0; f < row.size(); ++f)
    if (row[f] == kMissing) missing.push_back(f);
}

}  // namespace

struct TbmatanPredictor::State {
  State(const Tbmatan& given, Method wanted)
      : model(given), naive(given), all_trees(tree_sum(given.edge_weights())), method(wanted) {
    if (wanted == Method::kExact) return;
    auto made = make_tree_plan(model, wanted != Method::kDense);
    if (!made) {
      if (wanted != Method::kAuto)
        throw InvalidInput("the weights of edges differ too much for this method: use the exact one");
      method = Method::kExact;
      return;
    }
    plan = std::move(*made);
    // The scale is taken out before the logarithm: both are large, and near each other.
    log_all_trees = Scaled{all_trees.mantissa, all_trees.exponent - plan.scale}.log();
    method = plan.is_dense() ? Method::kDense : Method::kSchedule;
  }

  Tbmatan model;
  NaivePart naive;
  Scaled all_trees;  // sum over all trees of the product of their weights
  double log_all_trees = 0;
  Method method;
  TreePlan plan;
  mutable Synchronized<std::shared_ptr<const SampledTrees>> sampled;

  /// Made when first asked for. Nobody waits for another thread that makes them, since that may take long: whoever
  /// needs them meanwhile makes the same.
  std::shared_ptr<const SampledTrees> trees() const {
    if (auto kept = known_trees()) return kept;
    auto made = std::make_shared<const SampledTrees>(model);
    return sampled.with([&](auto& kept) { return kept ? kept : kept = std::move(made); });
  }

  std::shared_ptr<const SampledTrees> known_trees() const {
    return sampled.with([](const auto& kept) { return kept; });
  }

  /// ln P(class, row) of complete rows, [row][class]; the code of feature f in row i is columns[f * stride + i].
  void complete_rows(const Code* columns, std::size_t stride, std::size_t n_rows, TreeLanes& lanes, double* out) const {
    const std::size_t n_classes = model.n_classes();
    naive.write(columns, stride, n_rows, out);
    if (model.n_features() < 2) return;
    for (std::size_t first = 0; first < n_rows;) {
      check_stop();
      const std::size_t rows = std::min(rows_between_looks(lanes), n_rows - first);
      add_log_sums(columns + first, stride, rows, lanes, out + first * n_classes);
      first += rows;
    }
  }

  /// Some hundredths of a second are as long as nobody has to look; whole groups of lanes are.
  std::size_t rows_between_looks(const TreeLanes& lanes) const {
    if (method == Method::kExact) return 1;
    const std::size_t work = (plan.n_updates() + plan.edges.size() + 1) * model.n_classes();
    return std::max<std::size_t>(1, kWorkBetweenLooks / (work * lanes.rows())) * lanes.rows();
  }

  void add_log_sums(const Code* columns, std::size_t stride, std::size_t n_rows, TreeLanes& lanes, double* out) const {
    const std::size_t n_classes = model.n_classes();
    if (method == Method::kExact) {
      for (std::size_t i = 0; i < n_rows; ++i) add_exact(columns + i, stride, out + i * n_classes);
      return;
    }
    const FlushSubnormals flush;
    for (std::size_t i = 0; i < n_rows; i += lanes.rows())
      lanes.add_log_sums(columns + i, stride, std::min(lanes.rows(), n_rows - i), model.cardinalities(), log_all_trees,
                         out + i * n_classes, best_isa());
  }

  /// One row by arithmetic with an exponent for every number.
  void add_exact(const Code* row, std::size_t stride, double* out) const {
    const std::size_t n = model.n_features(), n_classes = model.n_classes();
    std::vector<EdgeWeights> weights(n_classes, EdgeWeights(n));
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t v = u + 1; v < n; ++v) {
        const auto lifts = pair_lifts(model.counts(), u, v, model.options().equivalent_sample_size);
        const double* cell = lifts.data() + (row[u * stride] * model.cardinalities()[v] + row[v * stride]) * n_classes;
        for (std::size_t c = 0; c < n_classes; ++c) {
          const Scaled weight = model.edge_weights()(u, v);
          if (weight.mantissa > 0) weights[c].set(u, v, weight * normalized({cell[c], 0}));
        }
      }
    for (std::size_t c = 0; c < n_classes; ++c) out[c] += (tree_sum(weights[c]) / all_trees).log();
  }

  /// The row in `buffers`, which has missing values.
  void incomplete_row(RowBuffers& buffers, double* out) const {
    find_missing(buffers.row, buffers.missing);
    std::fill_n(out, model.n_classes(), -std::numeric_limits<double>::infinity());
    if (needs_sampling(buffers.missing))
      average_sampled(buffers, out);
    else
      sum_assignments(buffers, out);
  }

  void average_sampled(RowBuffers& buffers, double* out) const {
    const auto sample = trees();
    buffers.joint.resize(std::max<std::size_t>(buffers.joint.size(), model.n_classes()));
    const std::span joint(buffers.joint.data(), model.n_classes());
    for (std::size_t t = 0; t < sample->predictors.size(); ++t) {
      check_stop();
      sample->predictors[t].predict(buffers.row, Output::kLogJoint, joint, buffers.tree);
      for (std::size_t c = 0; c < joint.size(); ++c) out[c] = log_sum(out[c], joint[c] + sample->log_shares[t]);
    }
  }

  void sum_assignments(RowBuffers& buffers, double* out) const {
    auto& [lanes, next, missing, columns, joint, tree] = buffers;
    const std::size_t n = next.size();
    const std::size_t n_classes = model.n_classes();
    for (const std::size_t f : missing) next[f] = 0;
    columns.resize(n * kBlockRows);
    joint.resize(kBlockRows * n_classes);
    std::size_t filled = 0;
    for (bool more = true; more;) {
      for (std::size_t f = 0; f < n; ++f) columns[f * kBlockRows + filled] = next[f];
      ++filled;
      std::size_t digit = 0;
      while (digit < missing.size() && ++next[missing[digit]] == model.cardinalities()[missing[digit]])
        next[missing[digit++]] = 0;
      more = digit < missing.size();
      if (more && filled < kBlockRows) continue;
      complete_rows(columns.data(), kBlockRows, filled, lanes, joint.data());
      for (std::size_t i = 0; i < filled; ++i)
        for (std::size_t c = 0; c < n_classes; ++c) out[c] = log_sum(out[c], joint[i * n_classes + c]);
      filled = 0;
    }
  }

  bool needs_sampling(std::span<const std::size_t> missing) const {
    double assignments = 1;
    for (const std::size_t f : missing) assignments *= model.cardinalities()[f];
    return assignments > static_cast<double>(model.options().max_assignments);
  }

  bool any_needs_sampling(const CodeBatch& batch) const {
    std::vector<std::size_t> missing(model.n_features());
    std::iota(missing.begin(), missing.end(), std::size_t{0});
    if (!needs_sampling(missing)) return false;
    std::vector<Code> row;
    for (std::size_t begin = 0; begin < batch.n_rows; begin += kBlockRows) {
      check_stop();
      const std::size_t rows = std::min(kBlockRows, batch.n_rows - begin);
      const RowCodes codes(batch, begin, rows, model.cardinalities());
      for (std::size_t i = 0; i < rows; ++i) {
        if (codes.is_complete(i)) continue;
        codes.copy_row(i, row);
        find_missing(row, missing);
        if (needs_sampling(missing)) return true;
      }
    }
    return false;
  }

  /// Log-joints of all rows, in blocks on several threads; `take(first, rows, joint)` receives them.
  template <class Take>
  void for_each_block(const CodeBatch& batch, int threads, Take take) const {
    const std::size_t n_classes = model.n_classes();
    if (!known_trees() && any_needs_sampling(batch)) trees();  // here, since this thread is the one that can be stopped
    parallel_for(batch.n_rows, kBlockRows, threads, [&](std::size_t begin, std::size_t end) {
      const RowCodes codes(batch, begin, end - begin, model.cardinalities());
      const std::size_t rows = end - begin;
      RowBuffers buffers(plan);
      std::vector<double> joint(rows * n_classes);
      // Stretches of complete rows are taken together.
      for (std::size_t i = 0; i < rows;) {
        std::size_t last = i;
        while (last < rows && codes.is_complete(last)) ++last;
        complete_rows(codes.columns() + i, rows, last - i, buffers.lanes, joint.data() + i * n_classes);
        if (last < rows) {
          codes.copy_row(last, buffers.row);
          incomplete_row(buffers, joint.data() + last * n_classes);
        }
        i = last + 1;
      }
      take(begin, end - begin, joint.data());
    });
  }

  /// Log-joints of one row.
  void one_row(std::span<const Code> row, RowBuffers& buffers, double* out) const {
    bool complete = true;
    for (std::size_t f = 0; f < row.size(); ++f) {
      if (row[f] < model.cardinalities()[f]) continue;
      if (row[f] != kMissing) throw unknown_code(f, row[f], model.cardinalities()[f]);
      complete = false;
    }
    if (complete) return complete_rows(row.data(), 1, 1, buffers.lanes, out);
    buffers.row.assign(row.begin(), row.end());
    incomplete_row(buffers, out);
  }
};

TbmatanPredictor::TbmatanPredictor(const Tbmatan& model, Method method)
    : state_(std::make_shared<const State>(model, method)) {}
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
  return state_->plan.n_updates();
}

bool TbmatanPredictor::is_estimate(std::span<const std::size_t> missing_features) const {
  for (const std::size_t f : missing_features)
    if (f >= n_features())
      throw InvalidInput(join_text("features are numbered below ", n_features(), ", but one is ", f));
  return state_->needs_sampling(missing_features);
}

void TbmatanPredictor::run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const {
  const std::uint32_t n_classes = this->n_classes();
  state_->for_each_block(batch, threads, [&](std::size_t first, std::size_t rows, double* joint) {
    finish_block(joint, rows, n_classes, output, best_isa());
    std::copy_n(joint, rows * n_classes, out.data() + first * n_classes);
  });
}

std::uint32_t TbmatanPredictor::run_row(std::span<const Code> row, Output output, std::span<double> out,
                                        Scratch& scratch) const {
  struct TbmatanBuffers : Scratch::Buffers {
    std::shared_ptr<const State> owner;  // keeps alive what the buffers refer to
    std::optional<RowBuffers> of_row;
  };
  auto& buffers = buffers_in<TbmatanBuffers>(scratch);
  if (buffers.owner != state_ || !buffers.of_row) {  // there are none where memory ran out meanwhile
    buffers.of_row.emplace(state_->plan);
    buffers.owner = state_;
  }
  state_->one_row(row, *buffers.of_row, out.data());
  const auto best = static_cast<std::uint32_t>(std::max_element(out.begin(), out.end()) - out.begin());
  finish_block(out.data(), 1, n_classes(), output, best_isa());
  return best;
}

void TbmatanPredictor::run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const {
  const std::uint32_t n_classes = this->n_classes();
  state_->for_each_block(batch, threads, [&](std::size_t first, std::size_t rows, const double* joint) {
    for (std::size_t i = 0; i < rows; ++i)
      out[first + i] = static_cast<std::uint32_t>(std::max_element(joint + i * n_classes, joint + (i + 1) * n_classes) -
                                                  (joint + i * n_classes));
  });
}

}  // namespace tanager
