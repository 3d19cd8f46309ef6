#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "motion/summary.h"

namespace c63::tools {

/// One frame of a motion page: its pictures as data URIs, one for each type; none where those of the frame before are shown.
struct MotionPageFrame {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;
  std::vector<std::string> pictures;
};

/// A self-contained page that shows the frames one after another, with the stream's summary and histogram.
[[nodiscard]] std::string motion_page(const std::string& name, const std::vector<std::string>& types,
                                      const std::vector<MotionPageFrame>& frames, const MotionSummary& summary);

}  // namespace c63::tools
