#include "inference/junction_plan_cache.hpp"

#include <utility>

namespace tanager::internal {
namespace {

std::size_t size_of(const Pattern& pattern, const JunctionPlan& plan) {
  return plan.bytes() + 2 * pattern.size() * sizeof(pattern[0]) + 128;  // and what the map itself takes
}

}  // namespace

std::size_t JunctionPlanCache::Hash::operator()(const Pattern& pattern) const {
  std::uint64_t hash = 0x9E3779B97F4A7C15;
  for (const std::uint64_t word : pattern) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

std::shared_ptr<const JunctionPlan> JunctionPlanCache::find(const Pattern& pattern) {
  return kept_.with([&](const Kept& kept) {
    const auto found = kept.plans.find(pattern);
    return found == kept.plans.end() ? nullptr : found->second;
  });
}

void JunctionPlanCache::keep(const Pattern& pattern, const std::shared_ptr<const JunctionPlan>& plan) {
  const std::size_t size = size_of(pattern, *plan);
  if (size > max_bytes_) return;
  kept_.with([&](Kept& kept) {
    if (!kept.plans.emplace(pattern, plan).second) return;  // another thread was faster
    kept.bytes += size;
    // Which plan goes is drawn by lot: learners come back to all rows in the same order, and whoever keeps the last
    // ones used would then always have just dropped the one that comes next.
    while (kept.bytes > max_bytes_) {
      const auto lot = static_cast<std::size_t>(kept.random.below(kept.patterns.size()));
      const auto victim = kept.plans.find(kept.patterns[lot]);
      kept.bytes -= size_of(victim->first, *victim->second);
      kept.plans.erase(victim);
      kept.patterns[lot] = std::move(kept.patterns.back());
      kept.patterns.pop_back();
    }
    kept.patterns.push_back(pattern);
  });
}

}  // namespace tanager::internal
