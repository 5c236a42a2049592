#pragma once

#include <stdexcept>
#include <string>

namespace tanager {

/// Base of everything tanager throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller's data or settings cannot be used; the message says what was expected and what came.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

/// A model file is broken, truncated, of an unknown version, or cannot be read or written.
class ModelFileError : public Error {
 public:
  using Error::Error;
};

}  // namespace tanager
