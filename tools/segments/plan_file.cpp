#include "segments/plan_file.h"

#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "c63/error.h"
#include "common/json_number.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr int kPlanVersion = 2;

/// The settings that a plan depends on.
ordered_json settings_of_plan(const SegmentedVideo& video) {
  ordered_json json = ordered_json::object();
  for (const char* key : {"width", "height", "scenecut", "seek", "frames", "prefilter"})
    json[key] = video.settings.at(key);
  return json;
}

SegmentPlan read_plan(const std::string& path, const SegmentedVideo& video) {
  std::string what;
  try {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("it cannot be read");
    const ordered_json json = ordered_json::parse(file);
    if (json.at("c63_segment_plan") != kPlanVersion) throw std::runtime_error("it is of another version of c63");
    const InputIdentity input{.bytes = json.at("input").at("bytes").get<std::uint64_t>(),
                              .sample_sha256 = json.at("input").at("sample_sha256").get<std::string>()};
    if (!same_content(input, video.input)) throw std::runtime_error("it is of another input");
    if (json.at("settings") != settings_of_plan(video)) throw std::runtime_error("it was made with other settings");
    SegmentPlan plan = plan_from(json);
    // Every frame of every format takes a byte at least.
    if (static_cast<std::uint64_t>(plan.frames) > video.input.bytes) throw std::runtime_error("it has more frames than the input has bytes");
    return plan;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& fault) {
    what = fault.what();
  }
  throw Error(ErrorKind::input, "C63-SEGMENT-PLAN", "no plan of this video: " + what, {.file = path});
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
  SegmentPlan plan;
  plan.frames = whole_number(json.at("video_frames"));
  for (const ordered_json& start : json.at("scene_starts")) {
    const std::int64_t least = plan.scene_starts.empty() ? 0 : plan.scene_starts.back() + 1;
    plan.scene_starts.push_back(whole_number(start, least));
    if (plan.scene_starts.back() >= plan.frames) throw std::runtime_error("a scene begins after the video's end");
  }
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::min();
  for (const ordered_json& point : json.at("seek_points")) {
    const std::int64_t least = plan.seek_table.points.empty() ? 0 : plan.seek_table.points.back().frame;
    plan.seek_table.points.push_back({whole_number(point.at(0), least), whole_number(point.at(1), kAny), whole_number(point.at(2), kAny)});
  }
  plan.seek_table.sums = json.at("frame_sums").get<std::vector<std::uint64_t>>();
  return plan;
}

SegmentPlan plan_from_file(const std::string& path, const SegmentedVideo& video,
                           const std::function<SegmentPlan()>& make, const std::function<bool()>& is_stopped,
                           Durability durability) {
  std::error_code ignored;
  if (!path.empty() && std::filesystem::exists(path, ignored)) return read_plan(path, video);
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
