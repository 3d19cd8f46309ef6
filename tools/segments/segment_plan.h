#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "c63/frame_source.h"
#include "c63/settings.h"

// Segments of a video are runs of whole GOPs. They can be encoded anywhere, and are joined in order.

namespace c63::tools {

/// What must be known about a whole video before parts of it can be encoded. Every machine makes the same plan.
struct SegmentPlan {
  std::int64_t frames = 0;
  std::vector<std::int64_t> scene_starts;  ///< empty if the settings ask for no scene cuts
  SeekTable seek_table = {};               ///< filled if a container was read for the plan

  bool operator==(const SegmentPlan&) const = default;
};

/// Segment `number` of `of` segments: `frames` frames of the video, beginning with frame `first`. If there are more
/// segments than GOPs, some have no frames.
struct Segment {
  int number = 1;  ///< from 1
  int of = 1;
  std::int64_t first = 0;
  std::int64_t frames = 0;
};

/// Makes the plan. Reads the whole source if it must: to find scene cuts, or if the length is unknown. Calls `on_frame`
/// for each frame that it reads. If `stop` is requested, the plan is incomplete and must not be used. Throws the errors
/// of the source.
[[nodiscard]] SegmentPlan plan_segments(FrameSource& source, const CodingSettings& settings, std::stop_token stop = {},
                                        const std::function<void()>& on_frame = {});

/// Returns the first key frame that is not before `frame`, or the number of frames if there is none. The time does not
/// depend on the video's length.
[[nodiscard]] std::int64_t first_key_frame_from(const SegmentPlan& plan, int key_interval, std::int64_t frame);

/// Returns the number of key frames, or `most` if there are more.
[[nodiscard]] int count_key_frames(const SegmentPlan& plan, int key_interval, int most);

/// Returns segment `number` of `count`. The frames are divided evenly; a segment has the GOPs whose key frame lies in
/// its part. Throws Error (usage, C63-SEGMENT-COUNT) if `count` is less than 1.
[[nodiscard]] Segment cut_segment(const SegmentPlan& plan, int key_interval, int number, int count);

/// Returns all segments, in order. Throws the errors of cut_segment().
[[nodiscard]] std::vector<Segment> cut_into_segments(const SegmentPlan& plan, int key_interval, int count);

/// Returns the scene starts of a segment, counted from its first frame, for Encoder::set_scene_starts().
[[nodiscard]] std::vector<std::int64_t> scene_starts_in(const SegmentPlan& plan, const Segment& segment);

}  // namespace c63::tools
