// A small test header: no C++ test framework comes with pip, and this is enough.
//
//     TEST(entropy_of_a_fair_coin_is_ln_2) { CHECK_NEAR(entropy(counts), std::log(2.0), 1e-15); }
//     TEST_MAIN
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace check {

inline std::vector<std::pair<std::string, std::function<void()>>>& tests() {
  static std::vector<std::pair<std::string, std::function<void()>>> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* name, std::function<void()> body) { tests().emplace_back(name, std::move(body)); }
};

inline void fail(const char* file, int line, const std::string& what) {
  // One wrong loop must not print a million lines.
  if (++failures() <= 20) std::printf("%s:%d: %s\n", file, line, what.c_str());
}

template <class A, class B>
void equal(const char* file, int line, const char* text, const A& a, const B& b) {
  if (a == b) return;
  std::ostringstream message;
  message.precision(17);
  message << text << ": " << a << " is not " << b;
  fail(file, line, message.str());
}

inline void near(const char* file, int line, const char* text, double a, double b, double tolerance) {
  if (a == b || std::abs(a - b) <= tolerance) return;  // equal infinities are near, NaN never is
  std::ostringstream message;
  message.precision(17);
  message << text << ": " << a << " is not within " << tolerance << " of " << b;
  fail(file, line, message.str());
}

template <class Exception, class Body>
void throws(const char* file, int line, Body body, const std::string& part) {
  try {
    body();
  } catch (const Exception& error) {
    if (std::string(error.what()).find(part) == std::string::npos)
      fail(file, line, "the message \"" + std::string(error.what()) + "\" lacks \"" + part + "\"");
    return;
  }
  fail(file, line, "nothing was thrown, expected \"" + part + "\"");
}

inline int run() {
  for (const auto& [name, body] : tests()) {
    const int before = failures();
    try {
      body();
    } catch (const std::exception& error) {
      fail(name.c_str(), 0, std::string("unexpected exception: ") + error.what());
    }
    if (failures() != before) std::printf("FAILED %s\n", name.c_str());
  }
  std::printf("%zu tests, %d failed checks\n", tests().size(), failures());
  return failures() == 0 && !tests().empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace check

#define TEST(name)                                           \
  static void name();                                        \
  static const check::Register register_##name(#name, name); \
  static void name()
#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
  } while (false)
#define CHECK_EQ(a, b) check::equal(__FILE__, __LINE__, #a " == " #b, a, b)
#define CHECK_NEAR(a, b, tolerance) check::near(__FILE__, __LINE__, #a " ~ " #b, a, b, tolerance)
#define CHECK_THROWS(exception, statement, part) \
  check::throws<exception>(__FILE__, __LINE__, [&] { static_cast<void>(statement); }, part)
#define TEST_MAIN        \
  int main() {           \
    return check::run(); \
  }
