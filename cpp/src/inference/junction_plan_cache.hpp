// Plans kept for the rows to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "inference/junction_plan.hpp"
#include "support/random.hpp"
#include "support/synchronized.hpp"

namespace tanager::internal {

/// Which features a row lacks, one bit each, and at the end what the plan was made for.
using Pattern = std::vector<std::uint64_t>;

/// Plans by pattern, up to a limit of memory. Any number of threads may ask at the same time. What it gives does not
/// depend on what it has kept, for a plan follows from its pattern.
class JunctionPlanCache {
 public:
  explicit JunctionPlanCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The plan of a pattern, make() if it is not kept.
  template <class Make>
  std::shared_ptr<const JunctionPlan> get(const Pattern& pattern, Make make) {
    if (auto known = find(pattern)) return known;
    auto plan = std::make_shared<const JunctionPlan>(make());
    keep(pattern, plan);
    return plan;
  }

 private:
  std::shared_ptr<const JunctionPlan> find(const Pattern& pattern);
  void keep(const Pattern& pattern, const std::shared_ptr<const JunctionPlan>& plan);

  struct Hash {
    std::size_t operator()(const Pattern& pattern) const;
  };

  struct Kept {
    std::unordered_map<Pattern, std::shared_ptr<const JunctionPlan>, Hash> plans;
    std::vector<Pattern> patterns;  // of all plans, to draw one that goes
    std::size_t bytes = 0;
    Random random{0};
  };

  std::size_t max_bytes_;
  Synchronized<Kept> kept_;
};

}  // namespace tanager::internal
