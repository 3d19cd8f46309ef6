#pragma once

#include <cstddef>

namespace c63::test {

/// Watches this program's operator new in all threads, as long as the object exists. Only one may exist at a time.
class AllocationProbe {
 public:
  AllocationProbe();
  ~AllocationProbe();
  AllocationProbe(const AllocationProbe&) = delete;
  AllocationProbe& operator=(const AllocationProbe&) = delete;

  /// The largest single request so far, in bytes.
  [[nodiscard]] std::size_t largest() const;
  /// The bytes of all requests so far.
  [[nodiscard]] std::size_t total() const;
  /// The most bytes that were in use at the same time, without those in use at construction.
  [[nodiscard]] std::size_t peak() const;
};

}  // namespace c63::test
