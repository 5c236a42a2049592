// Files on POSIX systems, where what was renamed and forced to the disk survives a loss of power.
#include "model_file/file.hpp"

#if TANAGER_POSIX_FILES

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

using enum ModelFileProblem;

ModelFileProblem problem_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) return kNoPermission;
  if (error == ENOMEM) return kNoMemory;
  return kOther;
}

[[noreturn]] void fail(int error) {
  throw ModelFileError(problem_of(error), std::generic_category().message(error));
}

/// Repeats a system call that a signal interrupted.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// Systems limit one call to somewhat less than 2^31 bytes.
constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

/// An open file, closed on all ways out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ != -1) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  /// Closes now, to learn of errors that only show then (full disks on network file systems).
  void close() {
    const int fd = fd_;
    fd_ = -1;
    if (::close(fd) == -1 && errno != EINTR) fail(errno);
  }

 private:
  int fd_;
};

void write_all(int fd, std::span<const std::byte> content) {
  while (!content.empty()) {
    const auto written = retry([&] { return ::write(fd, content.data(), std::min(content.size(), kMaxTransfer)); });
    if (written == -1) fail(errno);
    content = content.subspan(static_cast<std::size_t>(written));
  }
}

void force_to_disk(int fd) {
#ifdef F_FULLFSYNC
  // On macOS, fsync stops at the drive's own cache.
  if (::fcntl(fd, F_FULLFSYNC) != -1) return;
#endif
  // Some file systems cannot do it (EINVAL, ENOTSUP); there it is no failure.
  if (retry([&] { return ::fsync(fd); }) == -1 && errno != EINVAL && errno != ENOTSUP) fail(errno);
}

/// Makes a rename in this folder lasting. The file is in place by then, so nothing that happens here is a failure.
void force_folder_to_disk(const std::string& folder) {
  const Descriptor descriptor(retry([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.get() != -1) ::fsync(descriptor.get());
}

/// What a path names after symbolic links, and what is known of that file if it exists.
struct Target {
  std::string path;
  std::string folder;
  std::optional<struct stat> present;
};

/// Follows symbolic links, also the last one to a file that does not exist yet.
std::filesystem::path follow_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == kMostLinks) fail(ELOOP);
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) fail(error.value());
    path = path.parent_path() / next;  // `next` alone if it is absolute
  }
  return path;
}

Target find_target(const std::string& path) {
  const std::filesystem::path real = follow_links(path);
  Target target{real.string(), real.has_parent_path() ? real.parent_path().string() : std::string("."), {}};
  struct stat status{};
  if (::stat(target.path.c_str(), &status) == -1) {
    if (errno != ENOENT) fail(errno);
    return target;
  }
  if (S_ISDIR(status.st_mode)) throw ModelFileError(kNotAModel, "it is a folder");
  if (!S_ISREG(status.st_mode)) throw ModelFileError(kNotAModel, "it is a device or pipe, not a regular file");
  // Renaming would replace a file that its owner has locked against writing.
  if (::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) == -1) fail(errno);
  target.present = status;
  return target;
}

/// Gives a new file the owner, group and permissions of the one it replaces. Only root can give files away: where that
/// fails, the rights that come with an owner or group (setuid, setgid) do not go to another one.
void copy_owner_and_permissions(const struct stat& from, int fd) {
  struct stat own{};
  if (::fstat(fd, &own) == -1) fail(errno);
  mode_t permissions = from.st_mode & 07777;
  const bool same = own.st_uid == from.st_uid && own.st_gid == from.st_gid;
  if (!same && ::fchown(fd, from.st_uid, from.st_gid) == -1) {
    permissions &= 0777;
    // The group alone, if this process belongs to it; if not, it is no failure.
    [[maybe_unused]] const int kept = ::fchown(fd, static_cast<uid_t>(-1), from.st_gid);
  }
  if (::fchmod(fd, permissions) == -1) fail(errno);
}

/// A new file with a name nobody has, removed again unless it is renamed into place.
class PassingFile {
 public:
  PassingFile(const std::string& folder, mode_t permissions) : descriptor_(create(folder, permissions, path_)) {}
  ~PassingFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;

  Descriptor& descriptor() { return descriptor_; }
  const std::string& path() const { return path_; }
  void rename_to(const std::string& target) {
    if (std::rename(path_.c_str(), target.c_str()) == -1) fail(errno);
    path_.clear();
  }

 private:
  static int create(const std::string& folder, mode_t permissions, std::string& path) {
    // Time and process make a clash unlikely; O_EXCL makes it harmless.
    const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    constexpr int kAttempts = 1000;
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      std::string candidate =
          folder + "/.tanager-" + std::to_string(::getpid()) + "-" + std::to_string(now + attempt) + ".tmp";
      const int fd =
          retry([&] { return ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions); });
      if (fd != -1) {
        path = std::move(candidate);
        return fd;
      }
      if (errno == ENOENT) throw ModelFileError(kNotFound, "the folder '" + folder + "' does not exist");
      if (errno == EACCES) throw ModelFileError(kNoPermission, "no permission to write in the folder '" + folder + "'");
      if (errno != EEXIST) fail(errno);
    }
    fail(EEXIST);
  }

  std::string path_;
  Descriptor descriptor_;
};

}  // namespace

struct InputFile::Handle {
  Descriptor descriptor;
  std::uint64_t size = 0;
};

InputFile::InputFile(const std::string& path)
    // O_NONBLOCK: opening a pipe for reading would otherwise wait for somebody to write into it.
    : handle_(new Handle{
          Descriptor(retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); })), 0}) {
  const int fd = handle_->descriptor.get();
  if (fd == -1) fail(errno);
  struct stat status{};
  if (::fstat(fd, &status) == -1) fail(errno);
  if (S_ISDIR(status.st_mode)) throw ModelFileError(kNotAModel, "it is a folder");
  if (!S_ISREG(status.st_mode)) throw ModelFileError(kNotAModel, "it is a device or pipe, not a regular file");
  handle_->size = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() = default;

std::uint64_t InputFile::size() const {
  return handle_->size;
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const auto count = retry([&] {
      return ::pread(handle_->descriptor.get(), out.data(), std::min(out.size(), kMaxTransfer),
                     static_cast<off_t>(offset));
    });
    if (count == -1) fail(errno);
    if (count == 0) throw ModelFileError(kDamaged, "it became shorter while it was read");
    out = out.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

struct OutputFile::State {
  // In the place of a file that others may not read, nobody else may open this one for a moment either.
  explicit State(const std::string& path)
      : target(find_target(path)), file(target.folder, target.present ? 0600 : 0666) {}

  Target target;
  PassingFile file;
};

OutputFile::OutputFile(const std::string& path) : state_(new State(path)) {
  if (state_->target.present) copy_owner_and_permissions(*state_->target.present, state_->file.descriptor().get());
}

OutputFile::~OutputFile() = default;

void OutputFile::write(std::span<const std::byte> content) {
  write_all(state_->file.descriptor().get(), content);
}

void OutputFile::commit() {
  Descriptor& descriptor = state_->file.descriptor();
  force_to_disk(descriptor.get());
  descriptor.close();
  state_->file.rename_to(state_->target.path);
  force_folder_to_disk(state_->target.folder);
}

const std::string& OutputFile::passing_path() const {
  return state_->file.path();
}

void replace_file(const std::string& path, std::span<const std::byte> content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace tanager::internal

#endif
