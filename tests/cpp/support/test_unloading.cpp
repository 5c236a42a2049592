// A plugin may be unloaded right after it has used threads, which would otherwise stay for a moment.
#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "check.hpp"

TEST(no_thread_is_left_in_a_library_that_is_unloaded) {
  for (int i = 0; i < 20; ++i) {
    void* plugin = dlopen(TANAGER_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin != nullptr);
    if (plugin == nullptr) return;
    const auto count_items = reinterpret_cast<int (*)(int)>(dlsym(plugin, "count_items"));
    CHECK_EQ(count_items(3), 100);
    CHECK_EQ(dlclose(plugin), 0);
    CHECK(dlopen(TANAGER_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD) == nullptr);        // else this would show nothing
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 2 == 0 ? 0 : 15));  // long enough for threads to look up
  }
}

TEST_MAIN
