#include "cuda_me/runtime/range.h"

#include <nvtx3/nvtx3.hpp>

namespace c63::cuda {
namespace {

/// The name under which a profiler groups c63's ranges.
struct NvtxDomain {
  static constexpr char const* name{"c63"};
};

}  // namespace

Range::Range(const char* name) { nvtxDomainRangePushEx(nvtx3::domain::get<NvtxDomain>(), nvtx3::event_attributes(name).get()); }
Range::~Range() { nvtxDomainRangePop(nvtx3::domain::get<NvtxDomain>()); }

}  // namespace c63::cuda
