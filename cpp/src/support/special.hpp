// Special functions. std::lgamma writes the global signgam, which threads may not share; these do not.
#pragma once

namespace tanager {

/// ln Gamma(x) for x > 0.
double log_gamma(double x);

/// ln of the rising factorial x (x+1) ... (x+n-1) = ln Gamma(x+n) - ln Gamma(x), for x > 0 and real n >= 0.
double log_rising(double x, double n);

}  // namespace tanager
