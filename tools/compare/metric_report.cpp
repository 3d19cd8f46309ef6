#include "compare/metric_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/counted.h"
#include "common/json_number.h"
#include "common/report.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

/// CSV quotes what holds a comma, a quote or a line end.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_number(double value, int digits) {
  return std::isnan(value) ? std::string() : fmt::format("{:.{}f}", value, digits);
}

/// Planes without a window of 8x8 have no SSIM.
std::string ssim_text(double value) { return std::isnan(value) ? "–" : fmt::format("{:.6f}", value); }

}  // namespace

std::string metric_text(const ComparedVideo& video, bool with_ssim) {
  const VideoQuality& q = video.quality;
  double lowest = q.psnr_of(q.frames.front(), 3);
  std::size_t lowest_at = 0;
  for (std::size_t i = 0; i < q.frames.size(); ++i) {
    const double value = q.psnr_of(q.frames[i], 3);
    if (value < lowest) {
      lowest = value;
      lowest_at = i;
    }
  }
  std::string text = fmt::format("{}: {} {}x{}\n", video.name, counted(std::ssize(q.frames), "frame"), q.format.width, q.format.height);
  text += fmt::format("  PSNR  Y {:.6f}  U {:.6f}  V {:.6f}  all {:.6f} dB  (lowest {:.6f} in frame {})\n",
                      q.psnr_of_video(0), q.psnr_of_video(1), q.psnr_of_video(2), q.psnr_of_video(3), lowest, lowest_at);
  if (with_ssim) {
    const double all = q.ssim_of_all();
    text += fmt::format("  SSIM  Y {}  U {}  V {}  all {}  ({} dB)\n", ssim_text(q.totals.mean_ssim(0)),
                        ssim_text(q.totals.mean_ssim(1)), ssim_text(q.totals.mean_ssim(2)), ssim_text(all),
                        ssim_text(ssim_db(all)));
  }
  if (q.first_difference) {
    text += fmt::format("  first difference: {}; {} of {} differ\n", to_string(*q.first_difference), q.different_frames,
                        counted(std::ssize(q.frames), "frame"));
  } else {
    text += "  identical\n";
  }
  return text;
}

std::string metric_csv(const std::vector<ComparedVideo>& videos) {
  std::string csv = "file,frame,identical,psnr_y_db,psnr_u_db,psnr_v_db,psnr_all_db,ssim_y,ssim_u,ssim_v,ssim_all\n";
  for (const ComparedVideo& video : videos) {
    for (std::size_t i = 0; i < video.quality.frames.size(); ++i) {
      const FrameQuality& frame = video.quality.frames[i];
      csv += fmt::format("{},{},{}", csv_field(video.name), i, frame.identical ? 1 : 0);
      for (int p = 0; p < 4; ++p) csv += fmt::format(",{}", csv_number(video.quality.psnr_of(frame, p), 6));
      for (const double ssim : frame.ssim) csv += fmt::format(",{}", csv_number(ssim, 6));
      csv += fmt::format(",{}\n", csv_number(video.quality.ssim_of_all(frame), 6));
    }
  }
  return csv;
}

ordered_json metric_json(const std::string& reference, const std::vector<ComparedVideo>& videos) {
  ordered_json json = environment_json("c63cmp");
  json["reference"] = reference;
  json["videos"] = ordered_json::array();
  for (const ComparedVideo& video : videos) {
    const VideoQuality& q = video.quality;
    ordered_json entry = {{"file", video.name},
                          {"width_pixels", q.format.width},
                          {"height_pixels", q.format.height},
                          {"frames", q.frames.size()},
                          {"identical", !q.first_difference.has_value()},
                          {"different_frames", q.different_frames},
                          {"psnr_y_db", json_number(q.psnr_of_video(0))},
                          {"psnr_u_db", json_number(q.psnr_of_video(1))},
                          {"psnr_v_db", json_number(q.psnr_of_video(2))},
                          {"psnr_all_db", json_number(q.psnr_of_video(3))},
                          {"ssim_y", json_number(q.totals.mean_ssim(0))},
                          {"ssim_u", json_number(q.totals.mean_ssim(1))},
                          {"ssim_v", json_number(q.totals.mean_ssim(2))},
                          {"ssim_all", json_number(q.ssim_of_all())}};
    if (const auto& d = q.first_difference) {
      entry["first_difference"] = {{"frame", d->frame},
                                   {"plane", std::string(1, "YUV"[d->plane])},
                                   {"x", d->x < 0 ? ordered_json(nullptr) : ordered_json(d->x)},
                                   {"y", d->y < 0 ? ordered_json(nullptr) : ordered_json(d->y)},
                                   {"reference", d->reference},
                                   {"value", d->value}};
    }
    ordered_json& frames = entry["per_frame"] = ordered_json::array();
    for (const FrameQuality& frame : q.frames) {
      frames.push_back({{"psnr_y_db", json_number(q.psnr_of(frame, 0))},
                        {"psnr_u_db", json_number(q.psnr_of(frame, 1))},
                        {"psnr_v_db", json_number(q.psnr_of(frame, 2))},
                        {"psnr_all_db", json_number(q.psnr_of(frame, 3))},
                        {"ssim_y", json_number(frame.ssim[0])},
                        {"ssim_u", json_number(frame.ssim[1])},
                        {"ssim_v", json_number(frame.ssim[2])},
                        {"ssim_all", json_number(q.ssim_of_all(frame))}});
    }
    json["videos"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace c63::tools
