#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "c63/frame_source.h"
#include "c63/settings.h"

// A video in segments: runs of whole GOPs that are encoded by themselves, anywhere, and joined in order.

namespace c63 {

/// What has to be known of a whole video before parts of it can be encoded. Wherever it is made, it is the same.
struct SegmentPlan {
  std::int64_t frames = 0;
  std::vector<std::int64_t> scene_starts;  ///< empty where settings ask for no scene cuts
  SeekTable seek_table = {};               ///< of a container that was read for the plan

  bool operator==(const SegmentPlan&) const = default;
};

/// Segment `number` of `of`; frames first, first + 1, … of the video. Some have no frames where there are more segments
/// than GOPs.
struct Segment {
  int number = 1;  ///< from 1
  int of = 1;
  std::int64_t first = 0;
  std::int64_t frames = 0;
};

/// Makes the plan. Reads the whole source where that takes it: for scene cuts, and for a source that does not know its
/// length; `on_frame` is called for each frame read. After a stop request the plan is of no use. Throws what the source
/// does.
[[nodiscard]] SegmentPlan plan_segments(FrameSource& source, const CodingSettings& settings, std::stop_token stop = {},
                                        const std::function<void()>& on_frame = {});

/// The first key frame that an encoder places at `frame` or after it; the plan's frames if there is no such key frame. Takes
/// no longer for plans of many frames.
[[nodiscard]] std::int64_t first_key_frame_from(const SegmentPlan& plan, int key_interval, std::int64_t frame);

/// The number of key frames that an encoder places, or `most` if there are more.
[[nodiscard]] int count_key_frames(const SegmentPlan& plan, int key_interval, int most);

/// Segment `number` of `count`, which has the GOPs whose key frame lies in its share of the frames. Throws Error (usage,
/// C63-SEGMENT-COUNT) for less than one.
[[nodiscard]] Segment cut_segment(const SegmentPlan& plan, int key_interval, int number, int count);

/// All segments, in order. Throws what cut_segment() does.
[[nodiscard]] std::vector<Segment> cut_into_segments(const SegmentPlan& plan, int key_interval, int count);

/// The scene starts in a segment, counted from its first frame: for Encoder::set_scene_starts().
[[nodiscard]] std::vector<std::int64_t> scene_starts_in(const SegmentPlan& plan, const Segment& segment);

}  // namespace c63
