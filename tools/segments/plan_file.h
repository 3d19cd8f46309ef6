#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "c63/frame_source.h"
#include "io/output_file.h"
#include "segments/segment_record.h"

namespace c63::tools {

[[nodiscard]] nlohmann::ordered_json to_json(const SegmentPlan& plan);
/// Throws what is no Error for JSON that is no plan.
[[nodiscard]] SegmentPlan plan_from(const nlohmann::ordered_json& json);

/// The plan of `video` (whose plan is not set yet): from the file, or made by `make` and written there for the segments
/// that come after. Without a path it is made. `source` is the whole video. Throws Error (input, C63-SEGMENT-PLAN) for a
/// file that is no plan of this video.
[[nodiscard]] SegmentPlan plan_from_file(const std::string& path, const SegmentedVideo& video, const FrameSource& source,
                                         const std::function<SegmentPlan()>& make,
                                         const std::function<bool()>& is_stopped, Durability durability);

}  // namespace c63::tools
