#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tanager {

int resolve_threads(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(std::size_t count, std::size_t grain, int threads,
                  const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t chunks = (count + grain - 1) / grain;
  const std::size_t workers = std::min<std::size_t>(static_cast<std::size_t>(resolve_threads(threads)), chunks);
  if (workers == 1) {
    for (std::size_t begin = 0; begin < count; begin += grain) body(begin, std::min(count, begin + grain));
    return;
  }

  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&] {
    for (std::size_t chunk = next++; chunk < chunks; chunk = next++) {
      try {
        body(chunk * grain, std::min(count, (chunk + 1) * grain));
      } catch (...) {
        const std::scoped_lock hold(failure_lock);
        if (!failure) failure = std::current_exception();
        next = chunks;  // nobody starts another chunk
      }
    }
  };

  std::vector<std::thread> others;
  others.reserve(workers - 1);
  try {
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads: those that run, and this one, do the work.
  }
  work();
  for (auto& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tanager
