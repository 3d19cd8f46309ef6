#pragma once

#include <nvtx3/nvtx3.hpp>

namespace c63::cuda {

/// The domain under which a profiler shows our ranges.
struct NvtxDomain {
  static constexpr char const* name{"c63"};
};

/// A named span on a profiler's time line, from here to the end of the scope; costs nothing without a profiler.
using Range = nvtx3::scoped_range_in<NvtxDomain>;

}  // namespace c63::cuda
