#pragma once

#include <cstddef>

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

}  // namespace c63::test
