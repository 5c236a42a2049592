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

/// Reading or writing failed; the message names the file and the reason.
class FileFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file, pipe or device, read once from start to end; "-" is standard input.
class Input {
 public:
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Returns the number of bytes read; fewer than requested only at the end.
  std::size_t read(std::span<char> out);

 private:
  std::string name_;
  int descriptor_;
};

/// A file that is written atomically; "-" is standard output. Pipes and devices are written directly.
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
  std::string passing_path_;  // a copy that outlives any use by the signal handler
  int descriptor_ = -1;
};

/// Ctrl-C and termination signals remove the unfinished output; a closed pipe ends the program silently.
void handle_signals();

}  // namespace tanager::predict
