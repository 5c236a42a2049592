#include "support/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "support/check_stop.hpp"

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace tanager::internal {
namespace {

/// Set in the gate while threads may come in; the other bits count those inside.
constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

/// Between two looks at what another thread is about to change: gives the core to a thread beside this one.
void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  __asm__ __volatile__("yield");
#endif
}

/// Asked once: it takes longer than a short piece of work.
std::size_t n_cores() {
  static const auto cores = static_cast<std::size_t>(resolve_threads(0));
  return cores;
}

}  // namespace

int resolve_threads(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadTeam::ThreadTeam(int threads)
    : size_(static_cast<std::size_t>(resolve_threads(threads))), has_cores_(size_ <= n_cores()) {}

ThreadTeam::~ThreadTeam() {
  over_.store(true, std::memory_order_relaxed);
  pieces_.fetch_add(1, std::memory_order_release);
  pieces_.notify_all();
  for (std::thread& thread : others_) thread.join();
}

void ThreadTeam::run(std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& body) {
  grain = std::max<std::size_t>(grain, 1);
  run_items((count + grain - 1) / grain,
            [&](std::size_t chunk, std::size_t) { body(chunk * grain, std::min(count, (chunk + 1) * grain)); });
}

void ThreadTeam::run_items(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
  if (std::min(size_, count) < 2) {
    for (std::size_t item = 0; item < count; ++item) {
      check_stop();
      body(item, 0);
    }
    return;
  }
  body_ = &body;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  gate_.store(kOpen, std::memory_order_release);
  pieces_.fetch_add(1, std::memory_order_release);
  pieces_.notify_all();
  start(std::min(size_, count) - 1);
  work(0);
  finish();
}

/// Has at least this many other threads, if the system gives them.
void ThreadTeam::start(std::size_t others) {
  if (others_.size() >= others) return;
  try {
    while (others_.size() < others)
      others_.emplace_back([this, worker = others_.size() + 1] { wait_and_work(worker); });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The system gives no more threads, or no memory for them: those that run, and this one, do the work.
  }
}

void ThreadTeam::wait_and_work(std::size_t worker) {
  const StopCheck check([this] {
    if (failed_.load(std::memory_order_relaxed)) throw Stopped("another thread has failed");
  });
  while (true) {
    const std::uint32_t seen = pieces_.load(std::memory_order_acquire);
    if (over_.load(std::memory_order_relaxed)) return;
    if (enter()) {
      work(worker);
      leave();
    }
    if (!spin_until([&] { return pieces_.load(std::memory_order_acquire) != seen; }))
      pieces_.wait(seen, std::memory_order_acquire);
  }
}

/// Nobody waits for a thread that wakes up too late: it does not come in.
bool ThreadTeam::enter() {
  std::uint32_t inside = gate_.load(std::memory_order_relaxed);
  while ((inside & kOpen) != 0)
    if (gate_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire, std::memory_order_relaxed))
      return true;
  return false;
}

void ThreadTeam::leave() {
  if (gate_.fetch_sub(1, std::memory_order_release) != 1) return;
  const std::scoped_lock hold(lock_);  // not between the caller's look at the gate and its sleep
  all_left_.notify_one();
}

void ThreadTeam::work(std::size_t worker) {
  while (true) {
    const std::size_t item = next_.fetch_add(1, std::memory_order_relaxed);
    if (item >= count_) return;
    try {
      check_stop();
      (*body_)(item, worker);
    } catch (...) {
      fail();
    }
  }
}

/// Keeps the exception that is being handled, if it is the first, and ends the work.
void ThreadTeam::fail() {
  const std::scoped_lock hold(lock_);
  if (!failure_) failure_ = std::current_exception();
  failed_.store(true, std::memory_order_relaxed);
  next_.store(count_, std::memory_order_relaxed);  // nobody starts another item
}

/// Shuts the gate and waits for those inside. Their items may be long, so the caller's StopCheck is looked at
/// meanwhile.
void ThreadTeam::finish() {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  const auto is_empty = [this] { return gate_.load(std::memory_order_acquire) == 0; };
  gate_.fetch_and(~kOpen, std::memory_order_relaxed);
  bool is_over = is_empty() || spin_until(is_empty);
  while (!is_over) {
    {
      std::unique_lock hold(lock_);
      is_over = all_left_.wait_for(hold, kBetweenLooks, is_empty);
    }
    try {
      if (!is_over && !failed_.load(std::memory_order_relaxed)) check_stop();
    } catch (...) {
      fail();
    }
  }
  if (!failure_) return;
  failed_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// Whether it is done before a thread had better sleep. To sleep and wake up takes about as long as a thread spins
/// before it sleeps, so waiting costs at most twice what it would if the future were known. Where threads outnumber
/// cores, spinning would only keep others from work.
template <class Done>
bool ThreadTeam::spin_until(Done done) const {
  constexpr std::chrono::microseconds kSpin{60};
  constexpr int kLoadsPerTime = 16;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  while (has_cores_ && std::chrono::steady_clock::now() < end)
    for (int i = 0; i < kLoadsPerTime; ++i) {
      if (done()) return true;
      pause_briefly();
    }
  return false;
}

void parallel_for(std::size_t count, std::size_t grain, int threads,
                  const std::function<void(std::size_t, std::size_t)>& body) {
  ThreadTeam(threads).run(count, grain, body);
}

void run_phases(std::span<const Phase> phases, int threads) {
  ThreadTeam team(threads);
  for (const Phase& phase : phases) team.run_items(phase.count, phase.body);
}

}  // namespace tanager::internal
