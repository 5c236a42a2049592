// The one place that starts threads. Work is split into fixed chunks, so no result depends on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace tanager {

/// Number of threads to use for a request: zero or less means all the machine has.
int resolve_threads(int threads);

/// Calls body(begin, end) on consecutive ranges of [0, count), each at most `grain` long, on up to `threads` threads.
/// Ranges are handed out in order as threads become free; the first exception stops the rest and is rethrown here.
void parallel_for(std::size_t count, std::size_t grain, int threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

/// One step of a longer work: body(item, worker) for every item in [0, count). The worker is the number of the thread
/// that runs the item, below resolve_threads(threads): it tells scratch memory apart and must not change any result.
struct Phase {
  std::size_t count = 0;
  std::function<void(std::size_t item, std::size_t worker)> body;
};

/// Runs the phases one after the other on up to `threads` threads, started once for all of them: a phase begins when
/// all items of the one before are done. Items are handed out in order; the first exception stops the rest and is
/// rethrown.
void run_phases(std::span<const Phase> phases, int threads);

}  // namespace tanager
