// What test_unloading.cpp loads and unloads: a library with threads of its own, as a plugin with tanager in it has.
#include <atomic>
#include <cstddef>

#include "support/parallel.hpp"

extern "C" __attribute__((visibility("default"))) int count_items(int threads) {
  std::atomic<int> done{0};
  tanager::internal::parallel_for(100, 1, threads,
                                  [&](std::size_t begin, std::size_t end) { done += static_cast<int>(end - begin); });
  return done;
}
