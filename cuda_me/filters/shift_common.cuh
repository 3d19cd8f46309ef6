#pragma once

#include "cuda_me/collective/reduce.cuh"
#include "cuda_me/filters/filter_common.cuh"
#include "cuda_me/filters/whitening_kernels.h"

namespace c63::cuda::kernels {

/// The values 2g, 2h and 5m of a sample that is not on the border (g, h and m as in ShiftSums). For bytes, they are
/// integers.
template <typename Sample>
struct Derivatives {
  using Value = std::conditional_t<std::is_same_v<Sample, float>, float, int>;
  Value g, h, m;
};

template <typename Sample>
[[nodiscard]] __device__ Derivatives<Sample> derivatives_at(BasicPlaneView<const Sample> r, int x, int y) {
  const Sample* middle = r.data + y * r.pitch + x;
  using Value = typename Derivatives<Sample>::Value;
  const Value above = middle[-r.pitch], below = middle[r.pitch], left = middle[-1], right = middle[1];
  return {below - above, right - left, static_cast<Value>(*middle) + above + below + left + right};
}

}  // namespace c63::cuda::kernels
