// Files as model files need them: checked before they are read, and replaced as a whole or not at all. Messages of the
// ModelFileError thrown here complete "cannot load X: " and "cannot save X: ".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#define TANAGER_POSIX_FILES 1
#else
#define TANAGER_POSIX_FILES 0
#endif

namespace tanager::internal {

/// A regular file open for reading. A folder, pipe, socket or device is rejected (and never waited for).
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Length when it was opened.
  std::uint64_t size() const;
  /// Fills `out` with the bytes from `offset` on; throws if there are not enough.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// A file that appears under its name as a whole or not at all: written under a passing name in the same folder, forced
/// to the disk, then renamed. Until then, and if anything fails, what was there stays as it was; the passing file is
/// removed. Keeps the permissions of the file it replaces, its
/// owner and group if this process may give files away, and writes through a symbolic link to what it names.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Adds to the content.
  void write(std::span<const std::byte> content);
  /// Puts the file in its place. Nothing can be added after.
  void commit();
  /// The passing name, for who must remove it without coming back here: a handler of signals.
  const std::string& passing_path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Puts a file with this content in the place of `path`, as an OutputFile does.
void replace_file(const std::string& path, std::span<const std::byte> content);

}  // namespace tanager::internal
