#include "segments/plan_file.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "c63/error.h"
#include "common/json.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr int kPlanVersion = 2;

/// Returns the settings that a plan depends on.
ordered_json settings_of_plan(const SegmentedVideo& video) {
  ordered_json json = ordered_json::object();
  for (const char* key : {"width", "height", "scenecut", "seek", "frames", "prefilter", "input-format", "tolerant"})
    json[key] = video.settings.at(key);
  return json;
}

/// Throws std::runtime_error if the plan contradicts itself or the input. So no work or memory is spent on a wrong
/// number of frames.
void check_plan(const SegmentPlan& plan, const InputIdentity& input, std::optional<std::int64_t> frames_of_source) {
  const SeekTable& table = plan.seek_table;
  // A frame takes at least one byte.
  const bool is_possible = frames_of_source      ? plan.frames == *frames_of_source
                           : !table.sums.empty() ? std::cmp_equal(plan.frames, table.sums.size())
                                                 : std::cmp_less_equal(plan.frames, input.bytes);
  const auto is_frame = [&](std::int64_t frame) { return frame >= 0 && frame < plan.frames; };
  if (!is_possible) throw std::runtime_error("its number of frames differs from the input's");
  if (!std::ranges::all_of(plan.scene_starts, is_frame) || !std::ranges::is_sorted(plan.scene_starts) ||
      !std::ranges::all_of(table.points, is_frame, &SeekTable::Point::frame)) {
    throw std::runtime_error("it names frames that do not exist");
  }
}

SegmentPlan read_plan(const std::string& path, const SegmentedVideo& video, std::optional<std::int64_t> frames_of_source) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  SegmentPlan plan;
  read_json(path, kMostBytes, "C63-SEGMENT-PLAN", "this is not a segment plan of this video", [&](const ordered_json& json) {
    if (json.at("c63_segment_plan") != kPlanVersion) throw std::runtime_error("it comes from another version of c63");
    const InputIdentity input{.bytes = whole_number_from<std::uint64_t>(json.at("input").at("bytes")),
                              .sample_sha256 = json.at("input").at("sample_sha256").get<std::string>()};
    if (!same_content(input, video.input)) throw std::runtime_error("it comes from another input");
    if (json.at("settings") != settings_of_plan(video)) throw std::runtime_error("it was made with other settings");
    plan = plan_from(json);
    check_plan(plan, video.input, frames_of_source);
  });
  return plan;
}

}  // namespace

ordered_json to_json(const SegmentPlan& plan) {
  ordered_json points = ordered_json::array();
  for (const SeekTable::Point& point : plan.seek_table.points) points.push_back({point.frame, point.time, point.decoded});
  return {{"video_frames", plan.frames},
          {"scene_starts", plan.scene_starts},
          {"seek_points", std::move(points)},
          {"frame_sums", plan.seek_table.sums}};
}

SegmentPlan plan_from(const ordered_json& json) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  SegmentPlan plan{.frames = whole_number_from<std::int64_t>(json.at("video_frames")), .scene_starts = {}};
  for (const ordered_json& start : json.at("scene_starts")) {
    plan.scene_starts.push_back(whole_number_from<std::int64_t>(start));
  }
  for (const ordered_json& point : json.at("seek_points")) {
    plan.seek_table.points.push_back({whole_number_from<std::int64_t>(point.at(0)), whole_number_from(point.at(1), kLeast),
                                      whole_number_from(point.at(2), kLeast)});
  }
  for (const ordered_json& sum : json.at("frame_sums")) {
    plan.seek_table.sums.push_back(whole_number_from<std::uint64_t>(sum));
  }
  return plan;
}

SegmentPlan plan_from_file(const std::string& path, const SegmentedVideo& video, const FrameSource& source,
                           const std::function<SegmentPlan()>& make, const std::function<bool()>& is_stopped,
                           Durability durability) {
  std::error_code ignored;
  if (!path.empty() && std::filesystem::exists(path, ignored)) {
    return read_plan(path, video, source.seekable() ? source.frame_count() : std::nullopt);
  }
  SegmentPlan plan = make();
  if (!path.empty() && !is_stopped()) {
    ordered_json json = {{"c63_segment_plan", kPlanVersion},
                         {"input", {{"bytes", video.input.bytes}, {"sample_sha256", video.input.sample_sha256}}},
                         {"settings", settings_of_plan(video)}};
    json.update(to_json(plan));
    write_json(path, json, durability);
  }
  return plan;
}

}  // namespace c63::tools
