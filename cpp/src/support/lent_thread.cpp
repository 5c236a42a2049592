#include "support/lent_thread.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "support/await.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace tanager::internal {

/// A thread. All but `finished` is written under the reserve's lock.
struct LentThread::Worker {
  std::condition_variable wake;
  std::function<void()> work;  // empty while there is none
  std::uint32_t begun = 0;
  std::atomic<std::uint32_t> finished{0};
  std::thread thread;
};

namespace {

using Worker = LentThread::Worker;

/// How long a thread waits for more work. The calls of one fit follow each other within far less; and a program that
/// is done with them, or forks, should not find threads around.
constexpr std::chrono::milliseconds kStay{10};

/// The threads of this process that wait for work.
struct Reserve {
  const std::uint32_t forks;
  const Reserve* const before;  // that of the process this one was forked from: never used, never freed
  std::mutex lock;
  std::size_t threads = 0;
  bool is_closed = false;  // nobody stays
  // With room for all threads.
  std::vector<std::shared_ptr<Worker>> idle;  // the last one has waited least
  std::vector<std::thread> ended;             // or about to, to be joined
};

/// How many forks lie between this process and the one that loaded the library. A process's number would not tell
/// them apart: in namespaces of their own, a process and its child may have the same.
std::atomic<std::uint32_t> count_of_forks{0};
#if !defined(_WIN32)
[[maybe_unused]] const int forks_are_told =
    pthread_atfork(nullptr, nullptr, [] { count_of_forks.fetch_add(1, std::memory_order_relaxed); });
#endif

std::atomic<Reserve*> present_reserve{nullptr};

/// Memory of the library itself, which ends when that is unloaded. It is not destroyed before, since threads may look
/// at it until the process ends.
union FirstReserve {
  Reserve reserve;
  explicit FirstReserve(std::uint32_t forks) : reserve{forks, nullptr, {}, 0, false, {}, {}} {}
  FirstReserve(const FirstReserve&) = delete;
  FirstReserve& operator=(const FirstReserve&) = delete;
  ~FirstReserve() {}
};

/// After a fork there is another one: threads do not come along, and one of them may have held the lock.
Reserve& reserve() {
  const std::uint32_t forks = count_of_forks.load(std::memory_order_relaxed);
  Reserve* known = present_reserve.load(std::memory_order_acquire);
  if (known == nullptr) {
    static FirstReserve first(forks);
    if (present_reserve.compare_exchange_strong(known, &first.reserve, std::memory_order_acq_rel))
      known = &first.reserve;
  }
  while (known->forks != forks) {
    auto made = std::unique_ptr<Reserve>(new Reserve{forks, known, {}, 0, false, {}, {}});
    if (present_reserve.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
  }
  return *known;
}

/// Called with the lock held. Who waits for the end of this work may have more at once: the thread is to be found
/// before it is said to be free.
void set_free(const std::shared_ptr<Worker>& worker, Reserve& all) {
  all.idle.push_back(worker);
  worker->finished.fetch_add(1, std::memory_order_release);
}

void serve(const std::shared_ptr<Worker>& self, Reserve& all) {
  std::unique_lock hold(all.lock);
  while (true) {
    self->wake.wait_for(hold, kStay, [&] { return self->work != nullptr || all.is_closed; });
    if (!self->work) break;
    const auto work = std::exchange(self->work, nullptr);
    hold.unlock();
    work();
    hold.lock();
    set_free(self, all);
    self->finished.notify_all();
  }
  std::erase(all.idle, self);
  all.ended.push_back(std::move(self->thread));
}

/// Called with the lock held, which the new thread waits for.
void start_thread(const std::shared_ptr<Worker>& worker, Reserve& all) {
  all.idle.reserve(all.threads + 1);
  all.ended.reserve(all.threads + 1);
  worker->thread = std::thread([self = worker, &all] { serve(self, all); });
  ++all.threads;
}

/// Called with the lock held by `hold`, which is given back meanwhile.
void join_ended(Reserve& all, std::unique_lock<std::mutex>& hold) {
  while (!all.ended.empty()) {
    std::thread last = std::move(all.ended.back());
    all.ended.pop_back();
    --all.threads;
    hold.unlock();
    last.join();
    hold.lock();
  }
}

#if !defined(_WIN32)  // where other threads are no more when a library ends
/// A library that is unloaded must not leave threads in its code. Those at work belong to somebody who is at fault.
struct Closing {
  ~Closing() {
    Reserve* all = present_reserve.load(std::memory_order_acquire);
    if (all == nullptr || all->forks != count_of_forks.load(std::memory_order_relaxed)) return;
    std::unique_lock hold(all->lock);
    all->is_closed = true;
    for (const auto& worker : all->idle) worker->wake.notify_one();
    while (!all->idle.empty()) {
      hold.unlock();
      std::this_thread::yield();
      hold.lock();
    }
    join_ended(*all, hold);
    if (all->threads > 0) return;
    all->idle.shrink_to_fit();
    all->ended.shrink_to_fit();
  }
} closing;
#endif

}  // namespace

std::uint32_t LentThread::forks() {
  return count_of_forks.load(std::memory_order_relaxed);
}

LentThread::LentThread(std::function<void()> work) : forks_(forks()) {
  Reserve& all = reserve();
  std::unique_lock hold(all.lock);
  join_ended(all, hold);
  const bool is_new = all.idle.empty();
  if (is_new) {
    worker_ = std::make_shared<Worker>();
    start_thread(worker_, all);
  } else {
    worker_ = std::move(all.idle.back());
    all.idle.pop_back();
  }
  worker_->work = std::move(work);
  number_ = ++worker_->begun;
  hold.unlock();
  if (!is_new) worker_->wake.notify_one();
}

void LentThread::wait(bool patient) const {
  if (forks_ != forks()) return;
  const auto is_done = [&](std::uint32_t finished) { return static_cast<std::int32_t>(finished - number_) >= 0; };
  std::uint32_t seen = worker_->finished.load(std::memory_order_acquire);
  if (is_done(seen)) return;
  {
    Reserve& all = reserve();
    const std::scoped_lock hold(all.lock);
    if (worker_->work && worker_->begun == number_) {  // not begun, so that it need not be waited for
      worker_->work = nullptr;
      set_free(worker_, all);
      return;
    }
  }
  for (; !is_done(seen); seen = worker_->finished.load(std::memory_order_acquire))
    await_change(worker_->finished, seen, patient);
}

}  // namespace tanager::internal
