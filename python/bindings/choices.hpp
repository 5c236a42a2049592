// Settings that Python gives by name.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tanager/errors.hpp"

namespace tanager::python {

/// The names of an enumeration's values.
template <class T>
using Choices = std::vector<std::pair<const char*, T>>;

/// The value of a name; for any other name, throws InvalidInput that names the setting, `what`.
template <class T>
T chosen(const std::string& what, const std::string& name, const Choices<T>& choices) {
  std::string expected;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i].first == name) return choices[i].second;
    expected += (i == 0 ? "" : i + 1 < choices.size() ? ", " : " or ") + std::string(choices[i].first);
  }
  throw InvalidInput(what + ": expected " + expected + ", got " + name);
}

/// The name of a value.
template <class T>
std::string name_among(T value, const Choices<T>& choices) {
  for (const auto& choice : choices)
    if (choice.second == value) return choice.first;
  return "";
}

}  // namespace tanager::python
