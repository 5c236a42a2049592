#pragma once

#include <optional>
#include <vector>

#include "tanager/counts.hpp"
#include "tanager/network.hpp"

namespace tanager {

struct DirichletOptions {
  /// Added to every count. Zero gives maximum likelihood; a parent configuration never seen then gives a uniform row.
  double alpha = 1.0;
  /// If set, replaces alpha: this much is spread evenly over all cells of every table (BDeu).
  std::optional<double> equivalent_sample_size;
  /// If not empty, the class probabilities themselves.
  std::vector<double> class_prior;
};

/// Posterior mean of every parameter under a Dirichlet prior: (N_jkc + a) / (N_jc + r a).
Network estimate_dirichlet(const Structure& structure, const CountSet& counts, const DirichletOptions& options = {});

}  // namespace tanager
