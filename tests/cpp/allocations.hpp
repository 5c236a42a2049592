// Replaces every `operator new` of a test program: counts allocations, and has one of them fail. To be included by one
// source file of a program.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations{0};  // since counting began
std::atomic<long> failing{0};      // the one that fails; 0 for none
std::atomic<long> alive{0};        // blocks that are not freed yet

void* allocate(std::size_t size, std::size_t alignment) {
  if (++allocations == failing) return nullptr;
  void* block = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                               : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block != nullptr) ++alive;
  return block;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* block = allocate(size, alignment)) return block;
  throw std::bad_alloc();
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  --alive;
  std::free(block);
}

}  // namespace

// All of them, since sanitizers and standard libraries have their own, which must not be mixed with these.
void* operator new(std::size_t size) {
  return allocate_or_throw(size, 0);
}
void* operator new[](std::size_t size) {
  return allocate_or_throw(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete[](void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  release(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  release(block);
}
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  release(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  release(block);
}
