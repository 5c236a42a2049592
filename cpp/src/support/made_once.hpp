// What many threads may need and only one should make.
#pragma once

#include <mutex>
#include <optional>

namespace tanager {

/// A value that the first who asks for it makes, while others wait. If making it throws, the next who asks tries again.
template <class T>
class MadeOnce {
 public:
  template <class Make>
  const T& get(Make make) const {
    std::call_once(is_made_, [&] { value_.emplace(make()); });
    return *value_;
  }

 private:
  mutable std::once_flag is_made_;
  mutable std::optional<T> value_;
};

}  // namespace tanager
