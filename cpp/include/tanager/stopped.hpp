#pragma once

#include "tanager/errors.hpp"

namespace tanager {

/// Work ended early, because whoever was asked whether to go on said no.
class Stopped : public Error {
 public:
  using Error::Error;
};

}  // namespace tanager
