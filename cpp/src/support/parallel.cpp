#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <latch>
#include <mutex>
#include <optional>
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

namespace {

/// The shared state of a team that goes through phases. A failed item must not keep the others waiting, so every thread
/// arrives at every barrier, with or without work done.
class PhaseTeam {
 public:
  explicit PhaseTeam(std::span<const Phase> phases) : phases_(phases), next_(phases.size()) {}

  void run(std::size_t workers) {
    std::vector<std::thread> others;
    others.reserve(workers - 1);
    try {
      for (std::size_t i = 1; i < workers; ++i)
        others.emplace_back([this, i] {
          start_.wait();
          work(i);
        });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run, and this one, do the work.
    }
    barrier_.emplace(static_cast<std::ptrdiff_t>(others.size()) + 1);
    start_.count_down();
    work(0);
    for (auto& thread : others) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work(std::size_t worker) {
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      for (std::size_t item = next_[p]++; item < phases_[p].count && !failed_; item = next_[p]++) {
        try {
          phases_[p].body(item, worker);
        } catch (...) {
          const std::scoped_lock hold(failure_lock_);
          if (!failure_) failure_ = std::current_exception();
          failed_ = true;
        }
      }
      if (p + 1 < phases_.size()) barrier_->arrive_and_wait();
    }
  }

  std::span<const Phase> phases_;
  std::vector<std::atomic<std::size_t>> next_;
  std::latch start_{1};
  std::optional<std::barrier<>> barrier_;  // made when the number of threads that really started is known
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
  std::mutex failure_lock_;
};

}  // namespace

void run_phases(std::span<const Phase> phases, int threads) {
  std::size_t most = 0;
  for (const Phase& phase : phases) most = std::max(most, phase.count);
  const std::size_t workers = std::min<std::size_t>(static_cast<std::size_t>(resolve_threads(threads)), most);
  if (workers > 1) {
    PhaseTeam(phases).run(workers);
    return;
  }
  for (const Phase& phase : phases)
    for (std::size_t item = 0; item < phase.count; ++item) phase.body(item, 0);
}

}  // namespace tanager
