// Expectation maximization. A missing feature with nothing observed below it is left out of its row's expectation,
// which is as exact and comes to the end sooner: with naive structures after one iteration.
#include <cmath>
#include <utility>

#include "parameters/from_counts.hpp"
#include "rows/fit_monitor.hpp"
#include "rows/softmax_families.hpp"
#include "rows/start.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/learn_rows.hpp"

namespace tanager {

using namespace internal;

FitResult estimate_em(const Structure& structure, const Dataset& data, const EmOptions& options, int threads) {
  check_fit(options.alpha, true, options.tol);
  const RowLikelihood rows(structure, data, RowGoal::kLikelihood, options.class_prior, options.max_cells);
  const SoftmaxFamilies families(structure, data.cardinalities(), data.n_classes());
  const Network start = start_network(structure, data, options.alpha > 0 ? options.alpha : 1.0, options.class_prior);
  std::vector<double> probabilities = families.parameters(start), counts(probabilities.size());
  for (double& p : probabilities) p = std::exp(p);
  restore_class(options.class_prior, probabilities);
  const std::size_t learned = probabilities.size() - options.class_prior.size();

  FitMonitor monitor(options.keep_going, {});
  const auto expect = [&](std::size_t iteration) {
    double value = rows.expect(probabilities, counts, threads).value;
    if (options.alpha > 0)
      for (std::size_t i = 0; i < learned; ++i) value += options.alpha * std::log(probabilities[i]);
    monitor.report({false, iteration, value});
    return value;
  };

  std::vector<double> trace;
  FitStop stop = FitStop::kIterationLimit;
  try {
    for (std::size_t iteration = 0;; ++iteration) {
      trace.push_back(expect(iteration));
      // The first step leads from the start, which other pseudo-counts may have smoothed, and is taken in any case.
      if (iteration > 1 && trace[iteration] - trace[iteration - 1] <= options.tol * rows.total_weight()) {
        stop = FitStop::kConverged;
        break;
      }
      if (iteration >= options.max_iter) break;
      families.to_probabilities(probabilities, options.alpha, counts);
      restore_class(options.class_prior, counts);
      probabilities.swap(counts);
    }
  } catch (const Stopped&) {
    stop = FitStop::kInterrupted;
  }
  FitResult result{families.network(probabilities), std::move(trace), {}, {}, {}, {}, stop};
  return result;
}

}  // namespace tanager
