#pragma once

#include <string_view>

#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {

/// How many blocks of each kind a frame has after all stages.
struct DecidedCounts {
  double blocks = 0;
  double candidates = 0;
  double predicted = 0;       ///< blocks that are predicted from the reference
  double with_ac = 0;         ///< blocks whose AC levels are chosen
  double slots = 0;           ///< places for level candidates in each block
  double found = 1;           ///< vectors that the search returns
};
[[nodiscard]] DecidedCounts count_decided(const cuda::FrameLayout& layout, const cuda::RateFrame* on_device,
                                          const cuda::Stream& stream);

/// Returns how many bytes of device memory a stage must at least read and write: its inputs and outputs, once each.
/// Codes are not counted.
[[nodiscard]] double least_bytes(std::string_view stage, const cuda::FrameLayout& layout, const DecidedCounts& counts);

}  // namespace c63::bench
