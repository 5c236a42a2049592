#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// Exact inference would have to hold too many features together; the message names them by their indices.
class CliqueTooLarge : public InvalidInput {
 public:
  CliqueTooLarge(const std::string& message, std::vector<std::size_t> features)
      : InvalidInput(message), features_(std::move(features)) {}
  const std::vector<std::size_t>& features() const { return features_; }

 private:
  std::vector<std::size_t> features_;
};

/// A model file is broken, truncated, of an unknown version, or cannot be read or written.
class ModelFileError : public Error {
 public:
  using Error::Error;
};

}  // namespace tanager
