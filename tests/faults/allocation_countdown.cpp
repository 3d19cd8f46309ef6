#include "allocation_countdown.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "support/replace_operator_new.h"

namespace {

using c63::test::Call;

std::atomic<Call> failing = Call::allocation;
std::atomic<long> count = 0;
std::atomic<long> first = 0;
std::atomic<bool> to_the_end = false;

/// Counts a call, and returns true if it must fail.
bool fails(Call call) {
  if (call != failing) return false;
  const long number = ++count;
  const long wanted = first;
  return wanted != 0 && (to_the_end ? number >= wanted : number == wanted);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  if (fails(Call::thread)) return EAGAIN;
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}

namespace c63::test {

void before_allocation() {
  if (fails(Call::allocation)) throw std::bad_alloc();
}
void after_allocation(void*, std::size_t) {}
void before_release(void*) noexcept {}

void fail_call(Call call, long number, bool from_there_on) {
  failing = call;
  to_the_end = from_there_on;
  first = number;
  count = 0;
}

void stop_failing() { first = 0; }

long calls() { return count; }

}  // namespace c63::test
