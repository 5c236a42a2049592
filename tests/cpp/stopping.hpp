// Calls that a StopCheck ends.
#pragma once

#include <chrono>
#include <thread>

#include "check.hpp"
#include "tanager/errors.hpp"

namespace testing {

/// Checks that a StopCheck ends `work`, which is repeated until then, and that only the calling thread looks at it.
template <class Work>
void check_stops(const char* file, int line, Work work) {
  const auto caller = std::this_thread::get_id();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const tanager::StopCheck check([&] {
    if (std::this_thread::get_id() != caller) check::fail(file, line, "another thread looks");
    throw tanager::Stopped("enough");
  });
  try {
    while (std::chrono::steady_clock::now() < end) work();
    check::fail(file, line, "nothing stops");
  } catch (const tanager::Stopped& stopped) {
    if (std::string(stopped.what()) != "enough") check::fail(file, line, stopped.what());
  }
}

}  // namespace testing

#define CHECK_STOPS(statement) testing::check_stops(__FILE__, __LINE__, [&] { static_cast<void>(statement); })
