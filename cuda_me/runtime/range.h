#pragma once

namespace c63::cuda {

/// A named span on a profiler's time line, until the end of the scope. It costs nothing without a profiler.
class Range {
 public:
  explicit Range(const char* name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace c63::cuda
