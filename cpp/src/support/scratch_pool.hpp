// Scratch memory for as many threads as ask at once.
#pragma once

#include <memory>
#include <vector>

#include "support/synchronized.hpp"

namespace tanager::internal {

template <class Scratch>
class ScratchPool {
 public:
  /// Calls use(scratch) with one that nobody else uses, and returns what it returns.
  template <class Use>
  auto with(Use use) {
    auto scratch = idle_.with([](auto& all) {
      if (all.empty()) return std::make_unique<Scratch>();
      auto last = std::move(all.back());
      all.pop_back();
      return last;
    });
    auto found = use(*scratch);
    idle_.with([&](auto& all) { all.push_back(std::move(scratch)); });
    return found;
  }

 private:
  Synchronized<std::vector<std::unique_ptr<Scratch>>> idle_;
};

}  // namespace tanager::internal
