#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cuda_me/kernels/motion.h"

namespace c63::bench {

/// A step of docs/course.md: a kernel of tools/race/examples/gpu, built into this program.
struct Step {
  std::string_view name;
  std::unique_ptr<cuda::MotionSearch> (*make)();
};

/// Returns the steps in the order of the course. Those that c63 itself uses are in cuda::motion_kernels().
[[nodiscard]] std::span<const Step> steps();

}  // namespace c63::bench
