#include "segments/segment_plan.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <span>
#include <string>

#include "c63/error.h"
#include "encode/frame_supply.h"
#include "encode/scene_cuts.h"

namespace c63::tools {
namespace {

SegmentPlan plan_by_reading(FrameSource& source, bool scene_cuts, const std::stop_token& stop,
                            const std::function<void()>& on_frame) {
  const VideoFormat format = source.format();
  std::vector<std::uint8_t> frame(frame_bytes(format.width, format.height));
  const auto luma = std::span<const std::uint8_t>(frame).first(plane_bytes(format.width, format.height, 0));
  SegmentPlan plan;
  SceneCuts cuts;
  while (!stop.stop_requested() && source.read(plan.frames, frame)) {
    if (scene_cuts) cuts.add(SceneCuts::histogram_of(luma));
    ++plan.frames;
    if (on_frame) on_frame();
  }
  if (!scene_cuts) return plan;
  cuts.end();
  for (std::int64_t i = 0; i < plan.frames; ++i) {
    if (cuts.starts_scene(i)) plan.scene_starts.push_back(i);
  }
  return plan;
}

}  // namespace

SegmentPlan plan_segments(FrameSource& source, const CodingSettings& settings, std::stop_token stop,
                          const std::function<void()>& on_frame) {
  const auto frames = source.seekable() ? source.frame_count() : std::nullopt;
  if (!frames) return plan_by_reading(source, settings.scene_cuts, stop, on_frame);
  SegmentPlan plan{.frames = *frames, .scene_starts = {}};
  if (!settings.scene_cuts) return plan;
  const auto supply = make_seeking_supply(source, {.scene_cuts = true});  // reads several frames at the same time
  for (std::int64_t i = 0; i < plan.frames && !stop.stop_requested(); ++i) {
    while (supply->state(i) == FrameState::pending && supply->search_scenes()) {
    }
    if (supply->state(i) == FrameState::ready && supply->starts_scene(i)) plan.scene_starts.push_back(i);
    if (on_frame) on_frame();
  }
  if (const auto fault = supply->fault()) std::rethrow_exception(fault);
  return plan;
}

std::int64_t first_key_frame_from(const SegmentPlan& plan, int key_interval, std::int64_t frame) {
  const auto next_scene = std::ranges::upper_bound(plan.scene_starts, frame);
  const std::int64_t scene = next_scene == plan.scene_starts.begin() ? 0 : *std::prev(next_scene);
  const std::int64_t end = next_scene == plan.scene_starts.end() ? plan.frames : *next_scene;
  const std::int64_t behind_key = (frame - scene) % key_interval;
  if (behind_key == 0) return std::min(frame, end);
  // The distance to the next key frame is compared before it is added, because the sum may not fit in 64 bits.
  return key_interval - behind_key < end - frame ? frame + key_interval - behind_key : end;
}

int count_key_frames(const SegmentPlan& plan, int key_interval, int most) {
  int count = 0;
  for (std::int64_t key = 0; key < plan.frames && count < most; key = first_key_frame_from(plan, key_interval, key + 1)) ++count;
  return count;
}

Segment cut_segment(const SegmentPlan& plan, int key_interval, int number, int count) {
  if (count < 1)
    throw Error(ErrorKind::usage, "C63-SEGMENT-COUNT",
                "the number of segments must be at least 1, not " + std::to_string(count));
  const auto begin_of = [&](int index) {
    // The frames are divided before they are multiplied, because the product may not fit in 64 bits.
    const std::int64_t share = plan.frames / count * index + plan.frames % count * index / count;
    return first_key_frame_from(plan, key_interval, share);
  };
  const std::int64_t first = begin_of(number - 1);
  return {.number = number, .of = count, .first = first, .frames = begin_of(number) - first};
}

std::vector<Segment> cut_into_segments(const SegmentPlan& plan, int key_interval, int count) {
  std::vector<Segment> segments = {cut_segment(plan, key_interval, 1, count)};
  while (std::ssize(segments) < count) segments.push_back(cut_segment(plan, key_interval, segments.back().number + 1, count));
  return segments;
}

std::vector<std::int64_t> scene_starts_in(const SegmentPlan& plan, const Segment& segment) {
  std::vector<std::int64_t> starts;
  for (const std::int64_t start : plan.scene_starts) {
    if (start >= segment.first && start < segment.first + segment.frames) starts.push_back(start - segment.first);
  }
  return starts;
}

}  // namespace c63::tools
