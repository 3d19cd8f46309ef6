#pragma once

#include <memory>

#include "motion/motion_outputs.h"

namespace c63::tools {

/// The output of a format that films have for themselves, or null for any other.
[[nodiscard]] std::unique_ptr<MotionOutput> make_film_output(const MotionOptions& options);

}  // namespace c63::tools
