#include "compare/commands.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "common/errors.h"
#include "common/json.h"
#include "common/log.h"
#include "common/options.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/text.h"
#include "common/values.h"
#include "common/video_input.h"
#include "compare/metrics.h"
#include "pictures/picture_file.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

/// A video, and how it differs from the reference.
struct ComparedVideo {
  std::string name;
  VideoQuality quality;
};

/// Planes that are smaller than SSIM's 8x8 window have no SSIM.
std::string ssim_text(double value) { return std::isnan(value) ? "–" : fmt::format("{:.6f}", value); }

/// Returns the lines to print, with the same figures as FFmpeg's psnr and ssim filters.
std::string metric_text(const ComparedVideo& video, bool with_ssim) {
  const VideoQuality& q = video.quality;
  std::string text = fmt::format("{}: {} {}x{}\n", one_line(video.name), counted(q.frame_count, "frame"), q.format.width, q.format.height);
  text += fmt::format("  PSNR  Y {:.6f}  U {:.6f}  V {:.6f}  all {:.6f} dB  (lowest {:.6f} in frame {})\n",
                      q.psnr_of_video(0), q.psnr_of_video(1), q.psnr_of_video(2), q.psnr_of_video(3), q.lowest_psnr, q.lowest_at);
  if (with_ssim) {
    const double all = q.ssim_of_all();
    text += fmt::format("  SSIM  Y {}  U {}  V {}  all {}  ({} dB)\n", ssim_text(q.totals.mean_ssim(0)),
                        ssim_text(q.totals.mean_ssim(1)), ssim_text(q.totals.mean_ssim(2)), ssim_text(all),
                        ssim_text(ssim_db(all)));
  }
  if (q.first_difference) {
    text += fmt::format("  first difference: {}; {} of {} differ\n", to_string(*q.first_difference), q.different_frames,
                        counted(q.frame_count, "frame"));
  } else {
    text += "  identical\n";
  }
  return text;
}

/// CSV with a row per frame and video, written while videos are compared.
class MetricCsv {
 public:
  MetricCsv(const std::string& path, Durability durability) : file_(path, durability) {
    file_.add("file,frame,identical,psnr_y_db,psnr_u_db,psnr_v_db,psnr_all_db,ssim_y,ssim_u,ssim_v,ssim_all\n");
  }
  void add(const std::string& video, std::int64_t index, const FrameQuality& frame, const VideoQuality& quality) {
    file_.add("{},{},{}", csv_field(video), index, frame.identical ? 1 : 0);
    for (const auto& [name, value] : figures_of(quality, frame)) {
      file_.add(",{}", std::isnan(value) ? std::string() : fmt::format("{:.6f}", value));
    }
    file_.add("\n");
  }
  void commit() { file_.commit(); }

 private:
  TextFile file_;
};

/// JSON with all figures, written while videos are compared. Each video's frames come before its sums. Infinite and
/// missing figures are null.
class MetricJson {
 public:
  MetricJson(const std::string& path, const std::string& reference, Durability durability) : file_(path, durability) {
    ordered_json json = environment_json("c63cmp");
    json["reference"] = reference;
    file_.add("{{\n{},\n  \"videos\": [", json_members(json));
  }
  void begin(const std::string& video) {
    file_.add("{}\n  {{\n{},\n    \"per_frame\": [", std::exchange(between_videos_, ","), json_members({{"file", video}}));
    between_frames_ = "";
  }
  void add(const FrameQuality& frame, const VideoQuality& quality) {
    file_.add("{}\n      {}", std::exchange(between_frames_, ","), figures_json(figures_of(quality, frame)).dump());
  }
  void end(const VideoQuality& q) {
    ordered_json json = {{"width_pixels", q.format.width},
                         {"height_pixels", q.format.height},
                         {"frames", q.frame_count},
                         {"identical", !q.first_difference.has_value()},
                         {"different_frames", q.different_frames}};
    json.update(figures_json(figures_of(q)));
    if (const auto& d = q.first_difference) {
      const auto place = [](int value) { return value < 0 ? ordered_json(nullptr) : ordered_json(value); };
      json["first_difference"] = {{"frame", d->frame}, {"plane", std::string(1, "YUV"[d->plane])}, {"x", place(d->x)},
                                  {"y", place(d->y)},  {"reference", d->reference},                {"value", d->value}};
    }
    file_.add("\n    ],\n{}\n  }}", json_members(json));
  }
  void commit() {
    file_.add("\n  ]\n}}\n");
    file_.commit();
  }

 private:
  TextFile file_;
  const char* between_videos_ = "";
  const char* between_frames_ = "";
};

/// Sums the differences of luma over all frames, sample by sample.
class HeatMap {
 public:
  void add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, const VideoFormat& format) {
    format_ = format;
    sums_.resize(plane_bytes(format.width, format.height, 0));
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] += static_cast<std::uint64_t>(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
    }
    ++frames_;
  }

  /// Returns the largest mean absolute difference of any sample position.
  [[nodiscard]] double peak() const {
    return sums_.empty() ? 0 : static_cast<double>(*std::max_element(sums_.begin(), sums_.end())) / frames_;
  }

  /// Returns the map as a picture. Its brightest colour means peak().
  [[nodiscard]] Image image() const {
    Image image(format_.width, format_.height);
    const double scale = peak() > 0 ? 1 / (peak() * frames_) : 0;
    for (int y = 0; y < format_.height; ++y) {
      for (int x = 0; x < format_.width; ++x) {
        image.set(x, y, heat_colour(static_cast<double>(sums_[static_cast<std::size_t>(y) * format_.width + x]) * scale));
      }
    }
    return image;
  }

 private:
  VideoFormat format_;
  std::vector<std::uint64_t> sums_;
  double frames_ = 0;
};

void check_command_line(const Session& session, const MetricRunOptions& o) {
  if (o.reference.empty() || o.others.empty()) {
    throw Error(ErrorKind::usage, "C63-USAGE", "a reference and at least one video to compare with it are needed");
  }
  if (!o.heatmap.empty()) {
    check_picture_name(o.heatmap);
    if (o.others.size() > 1) {
      throw Error(ErrorKind::usage, "C63-USAGE", "--heatmap shows one video; name one in addition to the reference");
    }
  }
  if (o.min_psnr && std::isnan(*o.min_psnr)) throw Error(ErrorKind::usage, "C63-USAGE", "--min-psnr takes a number");
  std::vector<NamedPath> inputs = {{"the reference", o.reference}};
  for (const std::string& other : o.others) inputs.push_back({"a video", other});
  if (std::count_if(inputs.begin(), inputs.end(), [](const NamedPath& p) { return p.path == "-"; }) > 1 ||
      (o.reference == "-" && o.others.size() > 1)) {
    throw Error(ErrorKind::usage, "C63-USAGE", "stdin can be read only once");
  }
  check_distinct_files(inputs, {{"--csv", o.csv},
                                {"--json", o.json},
                                {"--heatmap", o.heatmap},
                                {"--log-file", session.common.log.file}});
}

/// Returns how many bytes each of the two sources may use.
std::uint64_t source_memory(const MetricRunOptions& o) { return o.limits.max_memory / 8 * 3; }

std::unique_ptr<FrameSource> open(const Session& session, Notices& notices, const MetricRunOptions& o, const std::string& path) {
  const SourceOptions source{
      .path = path,
      .width = path.ends_with(".c63") ? 0 : o.width,
      .height = path.ends_with(".c63") ? 0 : o.height,
      .rate = o.rate,
      .limits = {o.limits.max_pixels, source_memory(o)},
      .stop = session.stop,
      .warn = [&notices, path](const std::string& message) { notices.warn(path + ": " + message); }};
  try {
    return clip_frames(open_video(source), o.first_frame, o.max_frames > 0 ? o.max_frames : -1);
  } catch (const Error& error) {
    if (error.id() != "C63-MAX-MEMORY") throw;
    throw NotedError(
        error, fmt::format("each of the two videos may take three eighths of {}", bytes_text(o.limits.max_memory)));
  }
}

/// Throws Error (limit, C63-MAX-MEMORY) if comparing needs too much memory.
void require_memory(const MetricRunOptions& o, const VideoFormat& format) {
  constexpr std::uint64_t kFramesOfDecoder = 8;
  const std::uint64_t frame = frame_bytes(format.width, format.height);
  const std::uint64_t luma = plane_bytes(format.width, format.height, 0);
  const std::uint64_t sums = o.heatmap.empty() ? 0 : sizeof(std::uint64_t) * luma;
  const std::uint64_t picture = o.heatmap.empty() ? 0 : 3 * luma + memory_to_save(o.heatmap, 3 * luma);
  const std::uint64_t needed = sums + std::max(picture, 2 * (frame + std::min(source_memory(o), kFramesOfDecoder * frame)));
  if (needed <= o.limits.max_memory) return;
  throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
              fmt::format("comparing pictures of {}x{} takes {} bytes{}; the limit is {} (--max-memory)", format.width,
                          format.height, needed, o.heatmap.empty() ? "" : " with --heatmap", o.limits.max_memory),
              {.file = o.reference});
}

/// Returns the message for a threshold that was missed. Empty if all were met.
std::string missed(const MetricRunOptions& o, const ComparedVideo& video) {
  if (o.bit_exact && video.quality.first_difference) {
    return fmt::format("{} is not identical: {}", video.name, to_string(*video.quality.first_difference));
  }
  const double all = video.quality.psnr_of_video(3);
  if (o.min_psnr && all < *o.min_psnr) {
    return fmt::format("{} has a PSNR of {:.4f} dB, below {:.4f}", video.name, all, *o.min_psnr);
  }
  return {};
}

}  // namespace

void add_options(CLI::App& app, MetricRunOptions& o) {
  add_options(
      app, "Comparison",
      {{"reference", &o.reference, "REF", "Video to compare with: raw YUV 4:2:0, Y4M, c63, or anything FFmpeg decodes", {.daily = true}},
       {"videos", &o.others, "FILE...", "Videos to compare", {.daily = true}},
       {"-w,--width", &o.width, "PIXELS", "Width of raw video", {.daily = true, .least = 1, .most = 65535}},
       {"-h,--height", &o.height, "PIXELS", "Height of raw video", {.daily = true, .least = 1, .most = 65535, .needs = {"--width"}}},
       {"--fps", into(o.rate, frame_rate_from), "RATE", "Frames per second of raw video", {.daily = true, .example = "30000/1001"}},
       {"-f,--frames", &o.max_frames, "N", "Compare no more frames than this; 0: all", {.daily = true, .least = 0}},
       {"--seek", &o.first_frame, "N", "Skip this many frames at the start of each video", {.daily = true, .least = 0}},
       {"--ssim,!--no-ssim", &o.ssim, "", "Measure SSIM (on by default)"},
       {"--bitexact", &o.bit_exact, "", "Fail (exit code 3) at the first difference", {.daily = true}},
       {"--min-psnr", &o.min_psnr, "DB", "Fail (exit code 3) if the PSNR of all planes is below this", {.daily = true}},
       {"--csv", &o.csv, "FILE", "Write a CSV row per frame and video"},
       {"--json", &o.json, "FILE", "Write all results as JSON"},
       {"--heatmap", &o.heatmap, "FILE", "Write a picture of where luma differs (.png or .ppm)"}});
  add_output_options(app, o.durability);
  add_limit_options(app, o.limits);
}

int run_metrics(const Session& session, const MetricRunOptions& o) {
  check_command_line(session, o);
  std::vector<ComparedVideo> videos;
  HeatMap heat;
  Notices notices(session.log);
  std::optional<MetricCsv> csv;
  std::optional<MetricJson> json;
  if (!o.csv.empty()) csv.emplace(o.csv, o.durability);
  if (!o.json.empty()) json.emplace(o.json, o.reference, o.durability);
  for (const std::string& path : o.others) {
    const auto reference = open(session, notices, o, o.reference);
    const auto other = open(session, notices, o, path);
    const auto progress = session.progress(reference->expected_frame_count(), reference->format().rate.value());
    const VideoFormat format = reference->format();
    require_memory(o, format);
    const bool quick = o.bit_exact && !o.min_psnr && o.csv.empty() && o.json.empty() && o.heatmap.empty();
    notices.begin();
    if (json) json->begin(path);
    ComparedVideo video{path, compare_videos(*reference, o.reference, *other, path,
                                             {.ssim = o.ssim, .stop_at_difference = quick, .keep_frames = false},
                                             [&](std::int64_t index, const FrameQuality& frame, const VideoQuality& quality, auto a, auto b) {
                                               if (csv) csv->add(path, index, frame, quality);
                                               if (json) json->add(frame, quality);
                                               if (!o.heatmap.empty()) heat.add(a, b, format);
                                               progress->advance(0);
                                             },
                                             session.stop)};
    progress->finish();
    if (session.stop.stop_requested()) return kExitDone;
    if (!quick && o.csv != "-" && o.json != "-") write_stdout(metric_text(video, o.ssim));
    if (json) json->end(video.quality);
    videos.push_back(std::move(video));
  }
  if (csv) csv->commit();
  if (json) json->commit();
  if (!o.heatmap.empty()) {
    save_picture(o.heatmap, heat.image(), o.durability);
    session.log->info("{}: the brightest spot stands for a mean difference of {:.2f}", o.heatmap, heat.peak());
  }
  for (const ComparedVideo& video : videos) {
    if (const std::string what = missed(o, video); !what.empty()) {
      throw Error(ErrorKind::comparison, o.bit_exact && video.quality.first_difference ? "C63-CMP-DIFFERENT" : "C63-CMP-PSNR",
                  what);
    }
  }
  return kExitDone;
}

}  // namespace c63::tools
