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

/// Tells what is wrong with the name of a table, which is bad input, from what went wrong with the machine.
[[noreturn]] void fail_to_read(const std::string& name, int error) {
  for (const int wrong_name : {ENOENT, EACCES, EISDIR, ENOTDIR, EPERM, ENAMETOOLONG, ELOOP})
    if (error == wrong_name) throw InvalidInput("cannot read " + name + ": " + system_message(error));
  fail("read", name, system_message(error));
}

/// The passing name of the output, null while there is none. Lock-free, so that a handler of signals may read it.
std::atomic<const char*> unfinished{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

/// The signals that end the program without leaving a file behind.
constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP};

/// Only what is allowed within a handler: no memory, no locks, no destructors.
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

/// Keeps signals waiting, so that none comes between the making of a file and the noting of its name. For the time
/// before other threads are started: they would take the signals instead.
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

/// Whether something that is not a regular file stands there already: a pipe, /dev/null, a terminal.
bool is_special(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

void handle_signals() {
  for (const int signal : kHandled) {
    struct sigaction now{};
    // Who ignores them for us, as nohup does, means it.
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    struct sigaction action{};
    action.sa_handler = end_on_signal;
    ::sigaction(signal, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_DFL);
  // A file that must not grow further is an error of writing, which has its sentence, and no reason to die halfway.
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
  file_.reset();  // removes what is not finished; only then may the handler forget it
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
