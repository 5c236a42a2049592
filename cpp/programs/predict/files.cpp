#include "files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "tanager/errors.hpp"

namespace tanager::predict {
namespace {

constexpr int kInterrupted = 130;

[[noreturn]] void fail(const char* what, const std::string& name, const std::string& why) {
  throw FileFailure(std::string("cannot ") + what + " " + name + ": " + why);
}

std::string system_message(int error) {
  return std::generic_category().message(error);
}

/// Throws InvalidInput for a wrong file name, and FileFailure for a failing disk.
[[noreturn]] void fail_to_read(const std::string& name, int error) {
  for (const int wrong_name : {ENOENT, EACCES, EISDIR, ENOTDIR, EPERM, ENAMETOOLONG, ELOOP})
    if (error == wrong_name) throw InvalidInput("cannot read " + name + ": " + system_message(error));
  fail("read", name, system_message(error));
}

/// The temporary name of the output, or null. Lock-free, for the signal handler.
std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

/// The signals that end the program without leaving a file behind.
constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP};

/// Async-signal-safe: no allocation, no locks, no destructors.
extern "C" void end_on_signal(int signal) {
  if (const char* path = unfinished.load()) ::unlink(path);
  if (signal == SIGINT) {
    constexpr std::string_view kMessage = "tanager-predict: interrupted\n";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
    ::_exit(kInterrupted);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Blocks signals between creating a file and recording its name. Only before other threads start: they would receive
/// the signals instead.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int signal : kHandled) ::sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

/// Whether the path is an existing pipe or device.
bool is_special(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

void handle_signals() {
  for (const int signal : kHandled) {
    struct sigaction now{};
    // Keep signals ignored if the parent process, such as nohup, ignores them.
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    struct sigaction action{};
    action.sa_handler = end_on_signal;
    ::sigaction(signal, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_DFL);
  // Exceeding the file size limit is reported as a write error.
  ::signal(SIGXFSZ, SIG_IGN);
}

Input::Input(const std::string& path)
    : name_(path == "-" ? "standard input" : "the table '" + path + "'"),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ == -1) fail_to_read(name_, errno);
}

Input::~Input() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t Input::read(std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto count = ::read(descriptor_, out.data() + filled, out.size() - filled);
    if (count == -1 && errno == EINTR) continue;
    if (count == -1) fail_to_read(name_, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

Output::Output(const std::string& path) : name_(path == "-" ? "standard output" : "'" + path + "'") {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
  } else if (is_special(path)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ == -1) fail("write", name_, system_message(errno));
  } else {
    const SignalsHeld held;
    try {
      file_.emplace(path);
    } catch (const ModelFileError& error) {
      fail("write", name_, error.what());
    }
    passing_path_ = file_->passing_path();
    unfinished = passing_path_.c_str();
  }
}

Output::~Output() {
  if (!file_ && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  file_.reset();  // removes an unfinished file; the handler needs the name until then
  unfinished = nullptr;
}

void Output::write(std::string_view text) {
  if (file_) try {
      file_->write(std::as_bytes(std::span(text)));
      return;
    } catch (const ModelFileError& error) {
      fail("write", name_, error.what());
    }
  while (!text.empty()) {
    const auto count = ::write(descriptor_, text.data(), text.size());
    if (count == -1 && errno == EINTR) continue;
    if (count == -1) fail("write", name_, system_message(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Output::finish() {
  if (!file_) return;
  try {
    file_->commit();
  } catch (const ModelFileError& error) {
    fail("write", name_, error.what());
  }
}

}  // namespace tanager::predict
