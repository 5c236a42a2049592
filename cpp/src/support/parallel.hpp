// The one place that has threads work. It is split into fixed chunks, so no result depends on the number of threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace tanager::internal {

/// Number of threads to use for a request: zero or less means all the machine has.
int resolve_threads(int threads);

/// Threads for many short pieces of work, one after the other. The others start when a piece first has work for them
/// and end with the team; between two pieces they wait, at first without sleeping, since the next one usually follows
/// at once. A team belongs to one thread, which does its share of the work; it must not be used from within its own
/// work.
class ThreadTeam {
 public:
  /// Up to `threads` threads, the caller's included; zero or less means all the machine has.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Maximum number of threads that work at once.
  std::size_t size() const { return size_; }

  /// Calls body(begin, end) on consecutive ranges of [0, count), each at most `grain` long. Ranges are handed out in
  /// order as threads become free; the first exception stops the rest and is rethrown here. Long ranges should call
  /// check_stop now and then, which ends them if another one failed or the caller is to stop.
  void run(std::size_t count, std::size_t grain, const std::function<void(std::size_t begin, std::size_t end)>& body);

  /// Calls body(item, worker) for every item in [0, count), the worker being the number of the thread, below size(): it
  /// tells scratch memory apart and must not change any result.
  void run_items(std::size_t count, const std::function<void(std::size_t item, std::size_t worker)>& body);

 private:
  void start(std::size_t others);
  void wait_and_work(std::size_t worker);
  bool enter();
  void leave();
  void work(std::size_t worker);
  void fail();
  void finish();
  template <class Done>
  bool spin_until(Done done) const;

  const std::size_t size_;
  const bool has_cores_;  // for every thread
  std::vector<std::thread> others_;

  // The present piece of work: written while the gate is shut and nobody inside, read by those inside.
  const std::function<void(std::size_t, std::size_t)>* body_ = nullptr;
  std::size_t count_ = 0;
  std::exception_ptr failure_;
  std::mutex lock_;                   // of the failure, and for the last to leave
  std::condition_variable all_left_;  // what the caller waits for
  std::atomic<bool> failed_{false};   // what threads with long items look at

  // Each in a cache line of its own, for others write them while the rest is read.
  static constexpr std::size_t kLine = 64;
  alignas(kLine) std::atomic<std::size_t> next_{0};      // the first item that nobody has taken
  alignas(kLine) std::atomic<std::uint32_t> pieces_{0};  // begun so far; others wait for it to change
  alignas(kLine) std::atomic<std::uint32_t> gate_{0};    // threads inside a piece, and whether more may come in
  std::atomic<bool> over_{false};
};

/// One piece of work for a team of its own.
void parallel_for(std::size_t count, std::size_t grain, int threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

/// One step of a longer work: body(item, worker) for every item in [0, count), as ThreadTeam::run_items calls it.
struct Phase {
  std::size_t count = 0;
  std::function<void(std::size_t item, std::size_t worker)> body;
};

/// Runs the phases one after the other on one team of up to `threads` threads: a phase begins when all items of the one
/// before are done.
void run_phases(std::span<const Phase> phases, int threads);

}  // namespace tanager::internal
