#pragma once

#include <memory>

#include "motion/motion_outputs.h"

namespace c63::tools {

/// Returns the output of a format that only films have, or null for other formats.
[[nodiscard]] std::unique_ptr<MotionOutput> make_film_output(const MotionOptions& options);

}  // namespace c63::tools
