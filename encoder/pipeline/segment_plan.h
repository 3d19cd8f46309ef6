#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "c63/frame_source.h"
#include "c63/settings.h"

// Segments of a video: runs of whole GOPs that can be encoded anywhere and are joined in order.

namespace c63 {

/// What must be known about a whole video before parts of it can be encoded. It is the same wherever it is made.
struct SegmentPlan {
  std::int64_t frames = 0;
  std::vector<std::int64_t> scene_starts;  ///< empty if the settings ask for no scene cuts
  SeekTable seek_table = {};               ///< of a container that was read for the plan

  bool operator==(const SegmentPlan&) const = default;
};

/// Segment `number` of `of`, with the frames first, first + 1, … of the video. If there are more segments than GOPs, some have no
/// frames.
struct Segment {
  int number = 1;  ///< from 1
  int of = 1;
  std::int64_t first = 0;
  std::int64_t frames = 0;
};

/// Makes the plan. Reads the whole source if it must: for scene cuts, and for a source of unknown length. Calls `on_frame` for each
/// frame that it reads. After a stop request the plan cannot be used. Throws the errors of the source.
[[nodiscard]] SegmentPlan plan_segments(FrameSource& source, const CodingSettings& settings, std::stop_token stop = {},
                                        const std::function<void()>& on_frame = {});

/// Returns the first key frame at `frame` or after it, or the number of frames if there is none. Takes no longer for long videos.
[[nodiscard]] std::int64_t first_key_frame_from(const SegmentPlan& plan, int key_interval, std::int64_t frame);

/// Returns the number of key frames, or `most` if there are more.
[[nodiscard]] int count_key_frames(const SegmentPlan& plan, int key_interval, int most);

/// Returns segment `number` of `count`. It has the GOPs whose key frame lies in its share of the frames. Throws Error (usage,
/// C63-SEGMENT-COUNT) if `count` is less than 1.
[[nodiscard]] Segment cut_segment(const SegmentPlan& plan, int key_interval, int number, int count);

/// Returns all segments, in order. Throws the errors of cut_segment().
[[nodiscard]] std::vector<Segment> cut_into_segments(const SegmentPlan& plan, int key_interval, int count);

/// Returns the scene starts of a segment, counted from its first frame, for Encoder::set_scene_starts().
[[nodiscard]] std::vector<std::int64_t> scene_starts_in(const SegmentPlan& plan, const Segment& segment);

}  // namespace c63
