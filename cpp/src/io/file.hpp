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

namespace tanager::io {

/// A regular file open for reading. A folder, pipe, socket or device is refused (and never waited for).
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

/// Puts a file with this content in the place of `path`: written under a passing name in the same folder, forced to the
/// disk, then renamed. If anything fails, what was at `path` stays as it was and the passing file is removed.
/// Keeps the permissions of the file it replaces, and writes through a symbolic link to what it names.
void replace_file(const std::string& path, std::span<const std::byte> content);

}  // namespace tanager::io
