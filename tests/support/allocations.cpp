#include "support/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> watching = false;
std::atomic<std::size_t> largest_request = 0;
std::atomic<std::size_t> total_requested = 0;
std::atomic<std::ptrdiff_t> in_use = 0;  // since the probe was made; negative if older memory is released
std::atomic<std::ptrdiff_t> most_in_use = 0;

template <typename Value>
void raise_to(std::atomic<Value>& highest, Value value) {
  Value last = highest;
  while (value > last && !highest.compare_exchange_weak(last, value)) {
  }
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (c63::test::failing_allocations.fails()) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory == nullptr) throw std::bad_alloc();
  if (watching) {
    raise_to(largest_request, size);
    total_requested += size;
    raise_to(most_in_use, in_use += static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
  }
  return memory;
}

void release(void* memory) noexcept {
  if (watching && memory != nullptr) in_use -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

namespace c63::test {

AllocationProbe::AllocationProbe() {
  largest_request = 0;
  total_requested = 0;
  in_use = 0;
  most_in_use = 0;
  watching = true;
}
AllocationProbe::~AllocationProbe() { watching = false; }
std::size_t AllocationProbe::largest() const { return largest_request; }
std::size_t AllocationProbe::total() const { return total_requested; }
std::size_t AllocationProbe::peak() const { return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, most_in_use)); }

}  // namespace c63::test

void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
