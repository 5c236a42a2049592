#include "inference/plan_cache.hpp"

#include <mutex>
#include <utility>

namespace tanager {
namespace {

std::size_t size_of(const Pattern& pattern, const Plan& plan) {
  return plan.bytes() + 2 * pattern.size() * sizeof(pattern[0]) + 128;  // and what the map itself takes
}

}  // namespace

std::size_t PlanCache::Hash::operator()(const Pattern& pattern) const {
  std::uint64_t hash = 0x9E3779B97F4A7C15;
  for (const std::uint64_t word : pattern) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

std::shared_ptr<const Plan> PlanCache::get(const Pattern& pattern, const std::function<Plan()>& make) {
  {
    const std::shared_lock hold(lock_);
    if (const auto found = plans_.find(pattern); found != plans_.end()) return found->second;
  }
  auto plan = std::make_shared<const Plan>(make());
  const std::size_t size = size_of(pattern, *plan);
  const std::unique_lock hold(lock_);
  if (size > max_bytes_ || !plans_.emplace(pattern, plan).second) return plan;
  bytes_ += size;
  // Which plan goes is drawn by lot: learners come back to all rows in the same order, and whoever keeps
  // the last ones used would then always have just dropped the one that comes next.
  while (bytes_ > max_bytes_) {
    const std::size_t lot = static_cast<std::size_t>(random_.below(patterns_.size()));
    const auto victim = plans_.find(patterns_[lot]);
    bytes_ -= size_of(victim->first, *victim->second);
    plans_.erase(victim);
    patterns_[lot] = std::move(patterns_.back());
    patterns_.pop_back();
  }
  patterns_.push_back(pattern);
  return plan;
}

}  // namespace tanager
