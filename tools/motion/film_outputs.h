#pragma once

#include <cstdint>
#include <memory>

#include "motion/motion_outputs.h"

namespace c63::tools {

/// Returns the output of a format that only films have, or null for other formats. `expected_frames` is an estimate; 0:
/// unknown.
[[nodiscard]] std::unique_ptr<MotionOutput> make_film_output(const MotionOptions& options, std::int64_t expected_frames);

}  // namespace c63::tools
