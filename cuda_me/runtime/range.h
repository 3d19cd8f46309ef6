#pragma once

#include <nvtx3/nvtx3.hpp>

namespace c63::cuda {

/// The name under which a profiler groups c63's ranges.
struct NvtxDomain {
  static constexpr char const* name{"c63"};
};

/// A named span on a profiler's time line, until the end of the scope. It costs nothing without a profiler.
using Range = nvtx3::scoped_range_in<NvtxDomain>;

}  // namespace c63::cuda
