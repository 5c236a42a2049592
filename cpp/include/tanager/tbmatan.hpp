#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/network.hpp"
#include "tanager/predictor.hpp"
#include "tanager/tree_sums.hpp"

namespace tanager {

struct TbmatanOptions {
  /// The weight of the prior in rows, spread evenly over the cells of every table (lambda, equation 24).
  double equivalent_sample_size = 10;
  /// If set, the factors by which the data change the weight of an edge are confined to [10^-this, 1] (SSTBMATAN,
  /// equations 25 to 29).
  std::optional<double> stubbornness;
  /// Prior weight of every edge, [u][v], symmetric, up to a factor; zero for an impossible edge. Empty means equal
  /// weights (equation 23).
  std::vector<double> edge_beliefs;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
  /// A row with missing values is summed over all their combinations if there are at most this many ...
  std::uint64_t max_assignments = 4096;
  /// ... and otherwise averaged over this many trees drawn from the posterior, each of which marginalizes them exactly.
  std::uint32_t n_trees = 200;
};

/// The Bayesian average over all tree-augmented naive Bayes models (Cerquides and Lopez de Mantaras 2003): every
/// spanning tree over the features is a model, its parameters have Dirichlet priors, and both are integrated out. It is
/// learned from counts of pairs alone. Immutable, safe to share between threads, and cheap to copy: copies share the
/// tables.
class Tbmatan {
 public:
  /// Throws InvalidInput if the counts have no pairs, are too large, an option is invalid, or the edges with a prior
  /// weight above zero contain no tree.
  explicit Tbmatan(CountSet counts, TbmatanOptions options = {}, int threads = 1);

  [[nodiscard]] std::size_t n_features() const { return counts().n_features(); }
  [[nodiscard]] std::uint32_t n_classes() const { return counts().n_classes(); }
  [[nodiscard]] std::span<const std::uint32_t> cardinalities() const { return counts().cardinalities(); }
  [[nodiscard]] const CountSet& counts() const { return state_->counts; }
  [[nodiscard]] const TbmatanOptions& options() const { return state_->options; }
  [[nodiscard]] std::span<const double> class_probabilities() const { return state_->class_probabilities; }
  /// Every tree has a posterior probability proportional to the product of these (beta*, equation 20).
  [[nodiscard]] const EdgeWeights& edge_weights() const { return state_->weights; }
  /// The network of one tree over the features, rooted at the first, with the parameters' posterior means. Throws
  /// InvalidInput unless the edges are a tree.
  [[nodiscard]] Network network_of(std::span<const Edge> tree) const;

 private:
  struct State {
    CountSet counts;
    TbmatanOptions options;
    std::vector<double> class_probabilities;
    EdgeWeights weights;
  };
  std::shared_ptr<const State> state_;
};

/// Fast prediction with the average: ln P(c, x) = ln NB(c, x) + ln (tree sum of weights * lifts / tree sum of weights).
/// Immutable and safe to share between threads.
class TbmatanPredictor : public Predictor {
 public:
  /// How tree sums are computed; the results agree to a few units in the last place.
  enum class Method {
    kAuto,
    kSchedule,  ///< without edges and steps that cannot change the result
    kDense,     ///< all of them
    kExact      ///< an exponent per number: for weights of any magnitude, and slow
  };

  /// Seed of the trees that are sampled for rows with missing values: every model draws the same ones.
  static constexpr std::uint64_t kTreeSeed = 20030101;

  explicit TbmatanPredictor(const Tbmatan& model, Method method = Method::kAuto);
  ~TbmatanPredictor() override;
  TbmatanPredictor(TbmatanPredictor&&) noexcept;
  TbmatanPredictor& operator=(TbmatanPredictor&&) noexcept;

  [[nodiscard]] std::size_t n_features() const override;
  [[nodiscard]] std::uint32_t n_classes() const override;

  /// The method in use, never kAuto.
  [[nodiscard]] Method method() const;
  /// The edges in use, and the steps of the elimination for one tree sum.
  [[nodiscard]] std::size_t n_edges() const;
  [[nodiscard]] std::size_t n_steps() const;
  /// Whether predictions for a row with these cells missing are averages over sampled trees.
  [[nodiscard]] bool is_estimate(std::span<const std::size_t> missing_features) const;

 private:
  void run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const override;
  void run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const override;
  std::uint32_t run_row(std::span<const Code> row, Output output, std::span<double> out,
                        Scratch& scratch) const override;

  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace tanager
