// Where tanager-predict reads from and writes to.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model_file/file.hpp"

namespace tanager::predict {

/// Reading or writing failed; the message says of what and why.
class FileFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file, pipe or device that is read once from its beginning to its end; "-" is standard input.
class Input {
 public:
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Fills as much as there is; less than asked for only at the end.
  std::size_t read(std::span<char> out);

 private:
  std::string name_;
  int descriptor_;
};

/// A file that appears as a whole or not at all; "-" is standard output. Pipes and devices are written to directly.
class Output {
 public:
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  /// Nothing more will be written.
  void finish();

 private:
  std::string name_;
  std::optional<internal::OutputFile> file_;
  std::string passing_path_;  // a copy that lives as long as the handler of signals may look at it
  int descriptor_ = -1;
};

/// Lets Ctrl-C and requests to end remove the unfinished output, and a closed pipe end the program as it ends others.
void handle_signals();

}  // namespace tanager::predict
