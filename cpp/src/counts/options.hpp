// How counting goes about its work. The public road always takes the defaults; tests force every path.
#pragma once

#include <cstddef>

#include "simd/cpu.hpp"
#include "tanager/counts.hpp"

namespace tanager::internal {

enum class CountMethod {
  kAuto,       ///< whatever the cost model thinks fastest, table by table
  kDirect,     ///< one row after the other, straight into the table: any size, any width
  kHistogram,  ///< packed indices into small tables, wherever they fit
  kBits        ///< bit sets or byte comparison, wherever the number of values allows it
};

struct CountOptions {
  Isa isa = best_isa();
  bool fast_pext = has_fast_pext();
  CountMethod method = CountMethod::kAuto;
  /// Rows per block of bit sets; zero means what memory and caches suggest.
  std::size_t block_rows = 0;
};

/// count() with every choice open. The result is the same for all of them.
CountSet count_with(const Dataset& data, CountScope scope, const std::vector<Family>& families, int threads,
                    const CountOptions& options);

}  // namespace tanager::internal
