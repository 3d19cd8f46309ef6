#include "allocation_countdown.h"

#include <atomic>

#include "support/replace_operator_new.h"

namespace {

std::atomic<long> calls = 0;
std::atomic<long> first = 0;
std::atomic<bool> to_the_end = false;

}  // namespace

namespace c63::test {

void before_allocation() {
  const long number = ++calls;
  const long wanted = first;
  if (wanted != 0 && (to_the_end ? number >= wanted : number == wanted)) throw std::bad_alloc();
}
void after_allocation(void*, std::size_t) {}
void before_release(void*) noexcept {}

void fail_allocation(long number, bool from_there_on) {
  to_the_end = from_there_on;
  first = number;
  calls = 0;
}

void stop_failing() { first = 0; }

long allocations() { return calls; }

}  // namespace c63::test
