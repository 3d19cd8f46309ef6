#include "pipeline/segment_plan.h"

#include <algorithm>
#include <exception>
#include <span>
#include <string>

#include "c63/error.h"
#include "pipeline/frame_supply.h"
#include "pipeline/scene_cuts.h"

namespace c63 {
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
  const auto supply = make_seeking_supply(source, {.scene_cuts = true});  // reads frames side by side
  for (std::int64_t i = 0; i < plan.frames && !stop.stop_requested(); ++i) {
    if (supply->starts_scene(i)) plan.scene_starts.push_back(i);
    if (on_frame) on_frame();
  }
  if (const auto fault = supply->fault()) std::rethrow_exception(fault);
  return plan;
}

std::vector<std::int64_t> key_frames_of(const SegmentPlan& plan, int key_interval) {
  std::vector<std::int64_t> keys;
  auto scene = plan.scene_starts.begin();
  for (std::int64_t key = 0; key < plan.frames;) {
    keys.push_back(key);
    scene = std::upper_bound(scene, plan.scene_starts.end(), key);
    const std::int64_t latest = key + key_interval;
    key = scene == plan.scene_starts.end() ? latest : std::min(latest, *scene);
  }
  return keys;
}

std::vector<Segment> cut_into_segments(const SegmentPlan& plan, int key_interval, int count) {
  if (count < 1)
    throw Error(ErrorKind::usage, "C63-SEGMENT-COUNT", "there is at least one segment, not " + std::to_string(count));
  const std::vector<std::int64_t> keys = key_frames_of(plan, key_interval);
  // Divided before it is multiplied: frames times segments may be more than 64 bits hold.
  const auto share_begins = [&](int index) {
    return plan.frames / count * index + plan.frames % count * index / count;
  };
  const auto first_key = [&](int index) {
    const auto key = std::ranges::lower_bound(keys, share_begins(index));
    return key == keys.end() ? plan.frames : *key;
  };
  std::vector<Segment> segments;
  for (int i = 0; i < count; ++i) {
    const std::int64_t first = first_key(i);
    segments.push_back({.number = i + 1, .of = count, .first = first, .frames = first_key(i + 1) - first});
  }
  return segments;
}

std::vector<std::int64_t> scene_starts_in(const SegmentPlan& plan, const Segment& segment) {
  std::vector<std::int64_t> starts;
  for (const std::int64_t start : plan.scene_starts) {
    if (start >= segment.first && start < segment.first + segment.frames) starts.push_back(start - segment.first);
  }
  return starts;
}

}  // namespace c63
