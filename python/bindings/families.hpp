// The families to count, as Python gives them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "tanager/counts.hpp"
#include "tanager/errors.hpp"

namespace tanager::python {

using FamilyPairs = std::vector<std::pair<std::size_t, std::vector<std::size_t>>>;

inline std::vector<Family> to_families(const FamilyPairs& pairs) {
  std::vector<Family> families;
  families.reserve(pairs.size());
  for (const auto& [child, parents] : pairs) families.push_back({child, parents});
  return families;
}

inline CountScope to_scope(const std::string& name) {
  return chosen<CountScope>("scope", name, {{"singles", CountScope::kSingles}, {"pairs", CountScope::kPairs}});
}

}  // namespace tanager::python
