#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "c63/frame_source.h"
#include "files/output_file.h"
#include "segments/segment_record.h"

namespace c63::tools {

[[nodiscard]] nlohmann::ordered_json to_json(const SegmentPlan& plan);
/// Throws an exception that is not an Error if the JSON is not a plan.
[[nodiscard]] SegmentPlan plan_from(const nlohmann::ordered_json& json);

/// Returns the plan of `video`, whose own plan is not set yet. Reads it from `path`. If the file does not exist, calls
/// `make` and, unless is_stopped(), writes the plan there for later segments. If `path` is empty, only calls `make`.
/// `source` is the whole video. Throws Error (input, C63-SEGMENT-PLAN) if the file is not a plan of this video.
[[nodiscard]] SegmentPlan plan_from_file(const std::string& path, const SegmentedVideo& video, const FrameSource& source,
                                         const std::function<SegmentPlan()>& make,
                                         const std::function<bool()>& is_stopped, Durability durability);

}  // namespace c63::tools
