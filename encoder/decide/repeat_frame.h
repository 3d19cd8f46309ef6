#pragma once

#include <cstdint>

#include "codec/frame_headers.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "decide/cost.h"
#include "decide/frame_plan.h"

namespace c63 {

/// The bits of a repeat frame: SOI and EOI.
inline constexpr int kRepeatFrameBits = 32;

/// Returns the limit below which the squared error of a repeat makes the repeat cheaper than the coded frame, with
/// kCostFractionBits. `coded_cost` is D + λR of the frame's blocks, or a lower bound of it.
[[nodiscard]] C63_HD inline std::int64_t repeat_budget(std::int64_t coded_cost, const FrameHeaders& headers,
                                                       const RateDecisions& rate) {
  const auto header_bits = static_cast<std::int64_t>(8 * (frame_header_bytes(headers) + 2));
  return coded_cost + std::int64_t{rate.lambda} * (header_bits + rate.repeat_margin - kRepeatFrameBits);
}

/// Returns true if it is better to repeat the previous picture than to code the frame. `repeat_error` is the repeat's
/// squared error over the padded planes.
[[nodiscard]] C63_HD inline bool repeat_is_cheaper(std::uint64_t repeat_error, std::int64_t coded_cost,
                                                   const FrameHeaders& headers, const RateDecisions& rate) {
  return static_cast<std::int64_t>(repeat_error << kCostFractionBits) < repeat_budget(coded_cost, headers, rate);
}

/// Returns the least squared error for which repeat_is_cheaper() returns false.
[[nodiscard]] inline std::uint64_t repeat_error_limit(std::int64_t coded_cost, const FrameHeaders& headers,
                                                      const RateDecisions& rate) {
  const std::int64_t budget = repeat_budget(coded_cost, headers, rate);
  return budget <= 0 ? 0 : (static_cast<std::uint64_t>(budget) + (1U << kCostFractionBits) - 1) >> kCostFractionBits;
}

/// The fewest bits that a coded MCU can have. Each of its six blocks has a flag, a DC difference of 0, and the end of
/// block.
inline constexpr int kLeastMcuBits = 38;

/// Returns a lower bound for the cost of a frame's blocks as the beam search counts it: kLeastMcuBits for each MCU. The
/// search does not count the first DC difference of each plane in an MCU row. It has at least two bits, which are
/// subtracted.
[[nodiscard]] C63_HD constexpr std::int64_t least_row_costs(const Geometry& geometry, Cost lambda) {
  return std::int64_t{lambda} * (kLeastMcuBits * geometry.mcus() - 6 * geometry.mcu_rows());
}

}  // namespace c63
