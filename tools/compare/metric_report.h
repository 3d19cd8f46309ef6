#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compare/metrics.h"

namespace c63::tools {

/// One video that was compared with the reference.
struct ComparedVideo {
  std::string name;
  VideoQuality quality;
};

/// The lines a person reads, the figures those of FFmpeg's filters.
[[nodiscard]] std::string metric_text(const ComparedVideo& video, bool with_ssim);

/// A row per frame and video.
[[nodiscard]] std::string metric_csv(const std::vector<ComparedVideo>& videos);

/// Everything, frames included. Infinite and missing figures are null.
[[nodiscard]] nlohmann::ordered_json metric_json(const std::string& reference, const std::vector<ComparedVideo>& videos);

}  // namespace c63::tools
