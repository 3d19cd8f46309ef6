// Included before every source of c63.wasm. Debian's libc++ for WebAssembly has one thread and may be older than the
// library needs, so this header adds the few names that are missing.

#pragma once

#include <algorithm>
#include <functional>
#include <ranges>

#if defined(_LIBCPP_HAS_NO_THREADS)
namespace std {
struct mutex {};
template <typename Mutex>
struct lock_guard {
  explicit lock_guard(Mutex& /*mutex*/) {}
  ~lock_guard() {}
};
}  // namespace std
#endif

#if _LIBCPP_VERSION < 15000
namespace std::ranges {
template <typename Range, typename To>
void copy(const Range& range, To to) {
  std::copy(std::begin(range), std::end(range), to);
}
template <typename Range, typename Value>
void fill(Range& range, const Value& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <typename Range, typename Value, typename Projection = identity>
auto find(Range&& range, const Value& value, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range), [&](const auto& one) { return std::invoke(projection, one) == value; });
}
template <typename Range, typename Predicate>
auto find_if(Range&& range, Predicate predicate) {
  return std::find_if(std::begin(range), std::end(range), predicate);
}
template <typename Range, typename Predicate>
bool any_of(const Range& range, Predicate predicate) {
  return std::any_of(std::begin(range), std::end(range), predicate);
}
}  // namespace std::ranges
#endif
