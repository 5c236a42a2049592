// Teams of threads: everything is done once, whoever does it and however they wait.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "support/check_stop.hpp"
#include "support/lazy.hpp"
#include "support/parallel.hpp"
#include "support/synchronized.hpp"

using namespace tanager;
using namespace tanager::internal;

namespace {

const std::vector<int> kSizes{1, 2, 3, 8};

/// The test's own thread, and the one that a sanitizer may have beside it.
constexpr std::size_t kOwnThreads = 2;

void sleep_for(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

/// Waits until others have come this far, but not forever where there are no others.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) sleep_for(1000);
  return condition();
}

}  // namespace

TEST(every_range_is_done_once) {
  for (const int size : kSizes) {
    ThreadTeam team(size);
    CHECK_EQ(team.size(), static_cast<std::size_t>(size));
    for (const std::size_t count : {0, 1, 2, 7, 64, 1000})
      for (const std::size_t grain : {0, 1, 3, 64, 2000}) {
        std::vector<std::atomic<int>> times(count);
        std::atomic<std::size_t> longest{0};
        team.run(count, grain, [&](std::size_t begin, std::size_t end) {
          CHECK(begin < end && end <= count);
          for (std::size_t i = begin; i < end; ++i) ++times[i];
          std::size_t known = longest;
          while (known < end - begin && !longest.compare_exchange_weak(known, end - begin)) {
          }
        });
        for (const auto& n : times) CHECK_EQ(n.load(), 1);
        CHECK(longest <= std::max<std::size_t>(grain, 1));
      }
  }
}

TEST(pieces_follow_each_other_at_any_distance) {
  for (const int size : kSizes) {
    ThreadTeam team(size);
    // Plain numbers: every piece must see what all threads have written in the one before.
    std::vector<std::size_t> values(37), next(37);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i;
    for (int piece = 0; piece < 370; ++piece) {
      if (piece % 100 == 50) sleep_for(3000);  // long enough to fall asleep
      team.run_items(values.size(), [&](std::size_t i, std::size_t) { next[i] = values[(i + 1) % values.size()] + 1; });
      values.swap(next);
    }
    for (std::size_t i = 0; i < values.size(); ++i) CHECK_EQ(values[i], i + 370);
  }
}

TEST(threads_are_numbered_and_work_at_the_same_time) {
  ThreadTeam team(3);
  for (int piece = 0; piece < 20; ++piece) {
    std::atomic<int> present{0};
    Synchronized<std::set<std::size_t>> workers;
    // No item ends before all three have begun, so no thread can do two of them.
    team.run_items(3, [&](std::size_t, std::size_t worker) {
      ++present;
      CHECK(comes_true([&] { return present == 3; }));
      workers.with([&](auto& seen) { seen.insert(worker); });
    });
    CHECK(workers.with([](const auto& seen) { return seen == std::set<std::size_t>{0, 1, 2}; }));
  }
}

TEST(no_more_threads_than_items) {
  ThreadTeam team(8);
  Synchronized<std::set<std::thread::id>> threads;
  for (int piece = 0; piece < 50; ++piece)
    team.run_items(2, [&](std::size_t, std::size_t) {
      threads.with([](auto& seen) { seen.insert(std::this_thread::get_id()); });
    });
  CHECK(threads.with([](const auto& seen) { return seen.size() <= 2; }));
}

TEST(the_first_exception_stops_the_rest) {
  for (const int size : kSizes) {
    ThreadTeam team(size);
    for (int piece = 0; piece < 20; ++piece) {
      std::atomic<std::size_t> done{0};
      CHECK_THROWS(std::runtime_error,
                   team.run_items(100000,
                                  [&](std::size_t i, std::size_t) {
                                    if (i == 5) throw std::runtime_error("item five");
                                    // So long that a thread which is kept from its core may throw late, too.
                                    if (i > 5) std::this_thread::sleep_for(std::chrono::microseconds(10));
                                    ++done;
                                  }),
                   "item five");
      CHECK(done < 100000 - 1);
      done = 0;  // and the team is as good as before
      team.run_items(100, [&](std::size_t, std::size_t) { ++done; });
      CHECK_EQ(done.load(), std::size_t{100});
    }
  }
}

TEST(all_may_fail_at_once) {
  ThreadTeam team(4);
  for (int piece = 0; piece < 50; ++piece)
    CHECK_THROWS(
        std::runtime_error,
        team.run_items(4, [](std::size_t i, std::size_t) { throw std::runtime_error("item " + std::to_string(i)); }),
        "item ");
}

TEST(nobody_waits_for_a_thread_that_comes_late) {
  // More threads than any machine has cores: some of them wake up when the piece is over, and must not enter the next
  // one with what they knew of the last.
  ThreadTeam team(40);
  std::size_t sum = 0;
  for (std::size_t piece = 0; piece < 200; ++piece) {
    std::vector<std::size_t> found(41, 0);
    team.run_items(found.size(), [&](std::size_t i, std::size_t) { found[i] = piece; });
    for (const std::size_t value : found) sum += value;
  }
  CHECK_EQ(sum, std::size_t{41 * 199 * 100});
}

TEST(waiting_threads_fall_asleep) {
  for (const int size : {2, 4}) {
    ThreadTeam team(size);
    std::atomic<int> present{0};
    team.run_items(static_cast<std::size_t>(size), [&](std::size_t, std::size_t) {
      ++present;
      CHECK(comes_true([&] { return present == size; }));
    });
    const std::clock_t before = std::clock();  // of all threads
    sleep_for(100000);
    const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    CHECK(used < 0.05);
  }
}

TEST(threads_end_with_their_team) {
  const std::filesystem::path tasks = "/proc/self/task";  // a folder for each thread, where there is such a thing
  if (!std::filesystem::exists(tasks)) return;
  const auto count = [&] {
    std::size_t found = 0;
    for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator(tasks)) ++found;
    return found;
  };
  CHECK(count() <= kOwnThreads);
  {
    ThreadTeam team(4);
    CHECK(count() <= kOwnThreads);  // they start with the first piece
    team.run(64, 1, [](std::size_t, std::size_t) { sleep_for(100); });
    CHECK(count() > kOwnThreads);
  }
  // The kernel may list a thread for a moment after it was joined.
  CHECK(comes_true([&] { return count() <= kOwnThreads; }));
}

TEST(teams_of_several_threads_are_apart) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        std::vector<int> times(17, 0);
        ThreadTeam(3).run(times.size(), 2, [&](std::size_t begin, std::size_t end) {
          for (std::size_t j = begin; j < end; ++j) ++times[j];
        });
        CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
      }
    });
  for (auto& caller : callers) caller.join();
}

TEST(phases_are_apart) {
  for (const int size : kSizes) {
    std::vector<int> a(50, 0), b(50, 0);
    std::vector<Phase> phases;
    phases.push_back({a.size(), [&](std::size_t i, std::size_t) { a[i] = static_cast<int>(i); }});
    phases.push_back({b.size(), [&](std::size_t i, std::size_t worker) {
                        CHECK(worker < static_cast<std::size_t>(size));
                        b[i] = a[a.size() - 1 - i];  // another thread may have written it
                      }});
    run_phases(phases, size);
    for (std::size_t i = 0; i < b.size(); ++i) CHECK_EQ(b[i], static_cast<int>(49 - i));
  }
}

TEST(synchronized_values_are_used_one_at_a_time) {
  Synchronized<long> total;
  total.with([](long& value) { value = 0; });
  ThreadTeam(4).run(40000, 10, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) total.with([&](long& value) { value += static_cast<long>(i); });
  });
  CHECK_EQ(total.with([](long& value) { return value; }), 39999L * 20000);
}

TEST(work_that_is_stopped_ends_on_all_threads) {
  for (const int threads : kSizes) {
    struct Enough {};
    const auto caller = std::this_thread::get_id();
    std::atomic<int> inside{0};
    bool ended = false;
    try {
      const StopCheck check([&] {
        CHECK(std::this_thread::get_id() == caller);
        if (inside == threads) throw Enough{};
      });
      ThreadTeam(threads).run_items(static_cast<std::size_t>(threads), [&](std::size_t, std::size_t) {
        ++inside;
        while (true) {  // forever, unless it is stopped
          check_stop();
          sleep_for(100);
        }
      });
    } catch (const Enough&) {
      ended = true;
    }
    CHECK(ended);
    check_stop();  // nothing is left of it
  }
}

TEST(a_caller_without_work_can_still_be_stopped) {
  for (const int threads : {2, 5}) {
    const auto caller = std::this_thread::get_id();
    std::atomic<int> inside{0};
    const StopCheck check([] { throw Stopped("enough"); });
    CHECK_THROWS(Stopped,
                 ThreadTeam(threads).run_items(static_cast<std::size_t>(threads),
                                               [&](std::size_t, std::size_t) {
                                                 ++inside;
                                                 while (inside < threads) sleep_for(100);  // everybody has an item
                                                 for (int i = 0; std::this_thread::get_id() != caller && i < 100'000;
                                                      ++i) {
                                                   check_stop();
                                                   sleep_for(100);
                                                 }
                                               }),
                 "enough");
  }
}

TEST(what_is_sorted_in_pieces_is_sorted) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kStepsPerCheck, kStepsPerCheck + 1, 5 * kStepsPerCheck}) {
    std::vector<std::uint32_t> values(size);
    std::uint32_t next = 1;
    for (auto& value : values) value = (next = next * 1664525 + 1013904223) >> 8;
    std::vector<std::uint32_t> expected = values;
    std::sort(expected.begin(), expected.end());
    sort_in_pieces(std::span(values));
    CHECK(values == expected);
  }
}

TEST(who_makes_a_value_may_fail_and_the_next_one_tries_again) {
  for (const int threads : kSizes) {
    Lazy<int> value;
    std::atomic<int> tries{0}, failures{0};
    const auto make = [&] {
      if (++tries <= 3) throw std::runtime_error("not yet");
      return 7;
    };
    ThreadTeam(threads).run(64, 1, [&](std::size_t, std::size_t) {
      try {
        CHECK_EQ(value.get(make), 7);
      } catch (const std::runtime_error&) {
        ++failures;
      }
    });
    CHECK_EQ(failures.load(), 3);
    CHECK_EQ(tries.load(), 4);
    CHECK_EQ(&value.get(make), &value.get(make));
    CHECK_EQ(tries.load(), 4);
  }
}

TEST_MAIN
