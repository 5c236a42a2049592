// The one place that starts threads. Work is split into fixed chunks, so no result depends on the number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace tanager {

/// Number of threads to use for a request: zero or less means all the machine has.
int resolve_threads(int threads);

/// Calls body(begin, end) on consecutive ranges of [0, count), each at most `grain` long, on up to `threads` threads.
/// Ranges are handed out in order as threads become free; the first exception stops the rest and is rethrown here.
void parallel_for(std::size_t count, std::size_t grain, int threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

}  // namespace tanager
