#pragma once

#include <string_view>

#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/runtime/stream.h"

namespace c63::bench {

/// The numbers of blocks and candidates of a frame after all stages.
struct DecidedCounts {
  double blocks = 0;
  double candidates = 0;
  double predicted = 0;       ///< candidates that are predicted from the reference
  double with_ac = 0;         ///< candidates with AC coefficients, whose levels are chosen
  double slots = 0;           ///< candidates of a block for which there is memory
  double found = 1;           ///< vectors per block that the search returns
};
[[nodiscard]] DecidedCounts count_decided(const cuda::FrameLayout& layout, const cuda::RateFrame* on_device,
                                          const cuda::Stream& stream);

/// Returns how many bytes of device memory a stage must at least read and write: its inputs and outputs, once each.
/// The coded bits that stage "code choices" writes are not counted.
[[nodiscard]] double least_bytes(std::string_view stage, const cuda::FrameLayout& layout, const DecidedCounts& counts);

}  // namespace c63::bench
