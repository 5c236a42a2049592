#include "support/parallel.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "support/await.hpp"
#include "support/check_stop.hpp"

namespace tanager::internal {
namespace {

/// Set in the gate while threads may come in; the other bits count those inside.
constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

}  // namespace

int resolve_threads(int threads) {
  if (threads > 0) return threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadTeam::ThreadTeam(int threads, std::size_t soon)
    : size_(static_cast<std::size_t>(resolve_threads(threads))), forks_(LentThread::forks()) {
  start(std::min(size_, std::max<std::size_t>(soon, 1)) - 1);
}

ThreadTeam::~ThreadTeam() {
  dismiss();
  for (const LentThread& thread : others_) thread.wait(patient_);
}

void ThreadTeam::dismiss() {
  if (others_.empty()) return;
  over_.store(true, std::memory_order_relaxed);
  pieces_.fetch_add(1, std::memory_order_release);
  pieces_.notify_all();
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
  } catch (const std::exception&) {
    // The system gives no more threads, or no memory for them: those that run, and this one, do the work.
  }
}

void ThreadTeam::wait_and_work(std::size_t worker) {
  const StopCheck check([this] {
    if (failed_.load(std::memory_order_relaxed)) throw Stopped("another thread has failed");
  });
  // To ask how many cores there are takes longer than a short piece of work, so that comes first if it has begun.
  bool asked = false;
  while (true) {
    const std::uint32_t seen = pieces_.load(std::memory_order_acquire);
    if (over_.load(std::memory_order_relaxed)) return;
    if (enter()) {
      work(worker);
      leave();
    }
    if (!std::exchange(asked, true)) patient_ = size_ <= static_cast<std::size_t>(resolve_threads(0));
    await_change(pieces_, seen, patient_);
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
  if (gate_.fetch_sub(1, std::memory_order_release) == 1) gate_.notify_one();
}

void ThreadTeam::work(std::size_t worker) {
  while (true) {
    const std::size_t item = next_.fetch_add(1, std::memory_order_relaxed);
    if (item >= count_) return;
    try {
      check_stop();
      (*body_)(item, worker);
    } catch (...) {
      const std::scoped_lock hold(failure_lock_);
      if (!failure_) failure_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
      next_.store(count_, std::memory_order_relaxed);  // nobody starts another item
    }
  }
}

/// Shuts the gate and waits for those inside.
void ThreadTeam::finish() {
  std::uint32_t inside = gate_.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
  if (forks_ != LentThread::forks()) inside = 0;  // a body has forked, and its child is here: the others are not
  for (; inside != 0; inside = gate_.load(std::memory_order_acquire)) await_change(gate_, inside, patient_);
  if (!failure_) return;
  failed_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(failure_, nullptr));
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
