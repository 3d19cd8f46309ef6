#include "decode/allocation_probe.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>

#include "support/replace_operator_new.h"

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

}  // namespace

namespace c63::test {

void before_allocation() {}
void after_allocation(void* memory, std::size_t size) {
  if (!watching) return;
  raise_to(largest_request, size);
  total_requested += size;
  raise_to(most_in_use, in_use += static_cast<std::ptrdiff_t>(malloc_usable_size(memory)));
}
void before_release(void* memory) noexcept {
  if (watching) in_use -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
}

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
