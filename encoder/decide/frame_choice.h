#pragma once

#include <cstdint>

#include "codec/frame_headers.h"
#include "decide/cost.h"
#include "decide/frame_plan.h"

namespace c63 {

/// The plan of a frame that is coded without SOF: predicted from the reference of the frame before, in whose place its picture
/// goes.
[[nodiscard]] inline FramePlan without_advance(FramePlan plan) {
  plan.headers.frame = false;
  return plan;
}

/// D + λR of a frame with its headers; `cost` is that of its blocks.
[[nodiscard]] inline std::int64_t whole_cost(std::int64_t cost, const FrameHeaders& headers, Cost lambda) {
  return cost + std::int64_t{lambda} * static_cast<std::int64_t>(8 * frame_header_bytes(headers));
}

}  // namespace c63
