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

namespace tanager {

/// A thread. All but `finished` is written under the reserve's lock.
struct LentThread::Worker {
  std::condition_variable wake;
  std::function<void()> work;  // empty while there is none
  std::uint32_t begun = 0;
  std::atomic<std::uint32_t> finished{0};
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
  std::vector<std::shared_ptr<Worker>> idle;  // the last one has waited least; with room for all threads
};

/// How many forks lie between this process and the one that loaded the library. A process's number would not tell
/// them apart: in namespaces of their own, a process and its child may have the same.
std::atomic<std::uint32_t> count_of_forks{0};
#if !defined(_WIN32)
[[maybe_unused]] const int forks_are_told =
    pthread_atfork(nullptr, nullptr, [] { count_of_forks.fetch_add(1, std::memory_order_relaxed); });
#endif

/// Never freed, since threads may look at it until the process ends. After a fork there is another one: threads do not
/// come along, and one of them may have held the lock.
Reserve& reserve() {
  static std::atomic<Reserve*> present{nullptr};
  const std::uint32_t forks = count_of_forks.load(std::memory_order_relaxed);
  Reserve* known = present.load(std::memory_order_acquire);
  while (known == nullptr || known->forks != forks) {
    auto made = std::unique_ptr<Reserve>(new Reserve{forks, known, {}, 0, {}});
    if (present.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
  }
  return *known;
}

void serve(const std::shared_ptr<Worker>& self, Reserve& all) {
  std::unique_lock hold(all.lock);
  do {
    hold.unlock();
    self->work();
    hold.lock();
    self->work = nullptr;
    // Who waits for the end of this work may have more at once: this thread is to be found before it is said to be
    // free.
    all.idle.push_back(self);
    self->finished.fetch_add(1, std::memory_order_release);
    self->finished.notify_all();
    self->wake.wait_for(hold, kStay, [&] { return self->work != nullptr; });
  } while (self->work);
  std::erase(all.idle, self);
  --all.threads;
}

void start_thread(const std::shared_ptr<Worker>& worker, Reserve& all) {
  {
    const std::scoped_lock hold(all.lock);
    all.idle.reserve(all.threads + 1);
    ++all.threads;
  }
  try {
    std::thread([self = worker, &all] { serve(self, all); }).detach();
  } catch (...) {
    const std::scoped_lock hold(all.lock);
    --all.threads;
    throw;
  }
}

}  // namespace

LentThread::LentThread(std::function<void()> work) {
  Reserve& all = reserve();
  {
    const std::scoped_lock hold(all.lock);
    if (!all.idle.empty()) {
      worker_ = std::move(all.idle.back());
      all.idle.pop_back();
      worker_->work = std::move(work);
      number_ = ++worker_->begun;
    }
  }
  if (worker_) {
    worker_->wake.notify_one();
    return;
  }
  worker_ = std::make_shared<Worker>();
  worker_->work = std::move(work);
  number_ = ++worker_->begun;
  start_thread(worker_, all);
}

void LentThread::wait(bool patient) const {
  const auto is_done = [&](std::uint32_t finished) { return static_cast<std::int32_t>(finished - number_) >= 0; };
  for (std::uint32_t seen = worker_->finished.load(std::memory_order_acquire); !is_done(seen);
       seen = worker_->finished.load(std::memory_order_acquire))
    await_change(worker_->finished, seen, patient);
}

}  // namespace tanager
