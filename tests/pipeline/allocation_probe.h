#pragma once

#include <cstddef>

namespace c63::test {

/// Watches this program's operator new, on all threads, as long as it lives. Only one may exist at a time.
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
  /// The most bytes in use at the same time so far, besides those at its construction.
  [[nodiscard]] std::size_t peak() const;
};

}  // namespace c63::test
