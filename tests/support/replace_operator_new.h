#pragma once

// Replaces operator new and delete in the whole program. Exactly one source file of the program must include this file.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace c63::test {

// The program that includes this file must define these three functions.

/// Called before each allocation; may throw std::bad_alloc.
void before_allocation();
/// Called after each allocation. `size` is the number of bytes that were requested.
void after_allocation(void* memory, std::size_t size);
/// Called before memory is released; `memory` is not null.
void before_release(void* memory) noexcept;

inline void* allocate(std::size_t size, std::size_t alignment) {
  before_allocation();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory == nullptr) throw std::bad_alloc();
  after_allocation(memory, size);
  return memory;
}

inline void release(void* memory) noexcept {
  if (memory != nullptr) before_release(memory);
  std::free(memory);
}

}  // namespace c63::test

void* operator new(std::size_t size) { return c63::test::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return c63::test::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { c63::test::release(memory); }
void operator delete[](void* memory) noexcept { c63::test::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { c63::test::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { c63::test::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { c63::test::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { c63::test::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { c63::test::release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { c63::test::release(memory); }
