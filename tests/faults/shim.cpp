// Makes system calls and allocations fail on demand. Compiled by the tests, and loaded before everything else:
//
//     g++ -O1 -fPIC -shared shim.cpp -o shim.so -ldl
//     LD_PRELOAD=./shim.so python ...                            # fault_arm() through ctypes
//     LD_PRELOAD=./shim.so TANAGER_FAULT=write:3:28:1 program    # what, k-th call, errno, how many times
//
// What can fail: new (operator new, which only C++ uses: the core and its standard library; not for tiny blocks), array
// (memory that NumPy or the core asks malloc, calloc or realloc for), open, write, fsync, rename, close. Other
// libraries' malloc stays as it is: what CPython does without memory is not ours to test.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

enum Kind { kNew, kArray, kOpen, kWrite, kFsync, kRename, kClose, kKinds };
constexpr const char* kNames[kKinds] = {"new", "array", "open", "write", "fsync", "rename", "close"};

struct Fault {
  std::atomic<long> calls{0};   // since it was armed
  std::atomic<long> first{0};   // the call that fails; 0 for none
  std::atomic<long> last{0};    // and the last one that does
  std::atomic<long> failed{0};  // how many have
  std::atomic<int> error{0};
};
Fault faults[kKinds];
std::atomic<bool> armed{false};

/// Whether this call is one that fails.
bool fails(Kind kind) {
  if (!armed.load(std::memory_order_relaxed)) return false;
  Fault& fault = faults[kind];
  const long call = ++fault.calls;
  const long first = fault.first;
  if (first == 0 || call < first || call > fault.last) return false;
  ++fault.failed;
  errno = fault.error;
  return true;
}

/// The same for memory. pybind11 has no answer if there are not even the 24 or 40 bytes by which it remembers an object
/// and what that keeps alive: it ends the process, or frees the object twice. The C++ tests let tiny blocks fail, too.
bool fails_new(std::size_t size) {
  return size > 64 && fails(kNew);
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Whether code at this address belongs to NumPy's or tanager's extension.
bool is_watched(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         (std::strstr(info.dli_fname, "_multiarray_umath") != nullptr ||
          std::strstr(info.dli_fname, "tanager/_core") != nullptr);
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);

/// Has calls k to k + times - 1 from now on fail, and counts anew. k = 0 only counts.
void fault_arm(const char* name, long k, int error, long times) {
  for (int kind = 0; kind < kKinds; ++kind) {
    faults[kind].calls = 0;
    faults[kind].failed = 0;
    faults[kind].first = 0;
    if (std::strcmp(kNames[kind], name) != 0) continue;
    faults[kind].last = k + times - 1;
    faults[kind].error = error;
    faults[kind].first = k;
  }
  armed = true;
}

void fault_disarm() {
  armed = false;
}

/// How many calls there have been since it was armed.
long fault_calls(const char* name) {
  for (int kind = 0; kind < kKinds; ++kind)
    if (std::strcmp(kNames[kind], name) == 0) return faults[kind].calls;
  return -1;
}

long fault_failed(const char* name) {
  for (int kind = 0; kind < kKinds; ++kind)
    if (std::strcmp(kNames[kind], name) == 0) return faults[kind].failed;
  return -1;
}

void* malloc(std::size_t size) {
  if (armed.load(std::memory_order_relaxed) && is_watched(__builtin_return_address(0)) && fails(kArray)) return nullptr;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  if (armed.load(std::memory_order_relaxed) && is_watched(__builtin_return_address(0)) && fails(kArray)) return nullptr;
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  if (armed.load(std::memory_order_relaxed) && is_watched(__builtin_return_address(0)) && fails(kArray)) return nullptr;
  return __libc_realloc(block, size);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(va_arg(arguments, int));
  va_end(arguments);
  static const auto next = real<int (*)(const char*, int, ...)>("open");
  return fails(kOpen) ? -1 : next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = static_cast<mode_t>(va_arg(arguments, int));
  va_end(arguments);
  static const auto next = real<int (*)(const char*, int, ...)>("open64");
  return fails(kOpen) ? -1 : next(path, flags, mode);
}

ssize_t write(int fd, const void* data, std::size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  return fails(kWrite) ? -1 : next(fd, data, size);
}

int fsync(int fd) {
  static const auto next = real<int (*)(int)>("fsync");
  return fails(kFsync) ? -1 : next(fd);
}

int rename(const char* from, const char* to) {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return fails(kRename) ? -1 : next(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  static const auto next = real<int (*)(int, const char*, int, const char*)>("renameat");
  return fails(kRename) ? -1 : next(from_folder, from, to_folder, to);
}

/// The file is closed all the same, as by a real close that fails.
int close(int fd) {
  static const auto next = real<int (*)(int)>("close");
  const bool failing = fails(kClose);
  const int error = errno;
  const int result = next(fd);
  if (!failing) return result;
  errno = error;
  return -1;
}

}  // extern "C"

void* operator new(std::size_t size) {
  if (fails_new(size)) throw std::bad_alloc();
  if (void* block = __libc_malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fails_new(size) ? nullptr : __libc_malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* block = nullptr;
  if (fails_new(size) || posix_memalign(&block, static_cast<std::size_t>(alignment), size == 0 ? 1 : size) != 0)
    throw std::bad_alloc();
  return block;
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
void operator delete(void* block) noexcept {
  free(block);
}
void operator delete[](void* block) noexcept {
  free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  free(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  free(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  free(block);
}

namespace {

/// From the environment, for programs that cannot call fault_arm.
struct FromEnvironment {
  FromEnvironment() {
    const char* text = std::getenv("TANAGER_FAULT");
    char name[16];
    long k = 0;
    long times = 1;
    int error = 0;
    if (text != nullptr && std::sscanf(text, "%15[a-z]:%ld:%d:%ld", name, &k, &error, &times) >= 3)
      fault_arm(name, k, error, times);
  }
} from_environment;

}  // namespace
