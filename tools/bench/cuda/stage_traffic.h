#pragma once

#include <string_view>

#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {

/// The decisions in a frame that has been through all stages.
struct DecidedCounts {
  double blocks = 0;
  double candidates = 0;
  double predicted = 0;       ///< of them, from the reference
  double with_ac = 0;         ///< of them, that have AC coefficients to choose
  double slots = 0;           ///< room for candidates in each block
  double found = 1;           ///< vectors that the search found
};
[[nodiscard]] DecidedCounts count_decided(const cuda::FrameLayout& layout, const cuda::RateFrame* on_device,
                                          const cuda::Stream& stream);

/// Returns the bytes of device memory that a stage must read and write: its inputs and outputs, once each. Codes are
/// not counted.
[[nodiscard]] double least_bytes(std::string_view stage, const cuda::FrameLayout& layout, const DecidedCounts& counts);

}  // namespace c63::bench
