// Ends a long call if whoever made it wants so: see StopCheck.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "tanager/errors.hpp"

namespace tanager::internal {

/// The check of this thread, or null. The other threads of a team have none: the one that called looks for all.
inline thread_local constinit StopCheck* this_threads_check = nullptr;

/// To be called at least every tenth of a second by whatever takes longer; costs some nanoseconds. ThreadTeam does so
/// before every item. Throws what the check throws.
inline void check_stop() {
  if (this_threads_check != nullptr) this_threads_check->look();
}

/// Short steps, such as those for one row, check after so many: some hundred microseconds.
inline constexpr std::size_t kStepsPerCheck = std::size_t{1} << 15;

/// Calls body(begin, end) on consecutive ranges of [0, count) that are a moment's work, and check_stop between them.
template <class Body>
void in_pieces(std::size_t count, Body body) {
  for (std::size_t begin = 0; begin < count; begin += kStepsPerCheck) {
    if (begin > 0) check_stop();
    body(begin, std::min(count, begin + kStepsPerCheck));
  }
}

/// Counts short steps, and checks when there have been enough of them.
class StopMeter {
 public:
  void add(std::size_t steps) {
    steps_ += steps;
    if (steps_ < kStepsPerCheck) return;
    steps_ = 0;
    check_stop();
  }

 private:
  std::size_t steps_ = 0;
};

/// std::sort that can be stopped.
template <class T>
void sort_in_pieces(std::span<T> values) {
  in_pieces(values.size(), [&](std::size_t begin, std::size_t end) {
    std::sort(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
  });
  for (std::size_t width = kStepsPerCheck; width < values.size(); width *= 2)
    for (std::size_t begin = 0; begin + width < values.size(); begin += 2 * width) {
      check_stop();
      const std::span<T> both = values.subspan(begin, std::min(2 * width, values.size() - begin));
      std::inplace_merge(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(width), both.end());
    }
}

}  // namespace tanager::internal
