#pragma once

#include <atomic>
#include <cstddef>

// support/allocations.cpp replaces operator new and delete in the whole program.

namespace c63::test {

/// Counts what operator new allocates in all threads of the program, as long as the object exists. Only one object may
/// exist at a time.
class AllocationProbe {
 public:
  AllocationProbe();
  ~AllocationProbe();
  AllocationProbe(const AllocationProbe&) = delete;
  AllocationProbe& operator=(const AllocationProbe&) = delete;

  /// The number of bytes of the largest allocation so far.
  [[nodiscard]] std::size_t largest() const;
  /// The number of bytes of all allocations so far, including those that were released again.
  [[nodiscard]] std::size_t total() const;
  /// The largest number of bytes that were in use at the same time. What was already in use at construction does not
  /// count.
  [[nodiscard]] std::size_t peak() const;
};

/// Counts calls of all threads, and says which of them must fail.
class Countdown {
 public:
  /// Makes call `number` fail, counted from now on. If `from_there_on` is true, all later calls fail, too. If `number` is
  /// 0, no call fails.
  void start(long number, bool from_there_on) {
    to_the_end_ = from_there_on;
    first_ = number;
    count_ = 0;
  }
  void stop() { first_ = 0; }
  /// The number of calls since start().
  [[nodiscard]] long calls() const { return count_; }
  /// Counts a call, and returns true if it must fail.
  [[nodiscard]] bool fails() {
    const long number = ++count_;
    const long first = first_;
    return first != 0 && (to_the_end_ ? number >= first : number == first);
  }

 private:
  std::atomic<long> count_ = 0;
  std::atomic<long> first_ = 0;
  std::atomic<bool> to_the_end_ = false;
};

/// The calls of operator new. One that must fail throws std::bad_alloc.
inline constinit Countdown failing_allocations;

}  // namespace c63::test
