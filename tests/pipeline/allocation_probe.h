#pragma once

#include <cstddef>

namespace c63::test {

/// Watches operator new of this test program, on all threads, for as long as it lives. One at a time.
class AllocationProbe {
 public:
  AllocationProbe();
  ~AllocationProbe();
  AllocationProbe(const AllocationProbe&) = delete;
  AllocationProbe& operator=(const AllocationProbe&) = delete;

  /// Bytes of the largest single request so far.
  [[nodiscard]] std::size_t largest() const;
  /// Bytes of all requests so far.
  [[nodiscard]] std::size_t total() const;
  /// The most bytes that were in use at a time so far, beyond those at its construction.
  [[nodiscard]] std::size_t peak() const;
};

}  // namespace c63::test
