#include "compare/metric_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "c63/error.h"
#include "common/json.h"
#include "common/report.h"
#include "common/text.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

std::string csv_number(double value, int digits) {
  return std::isnan(value) ? std::string() : fmt::format("{:.{}f}", value, digits);
}

/// Planes that are smaller than SSIM's 8x8 window have no SSIM.
std::string ssim_text(double value) { return std::isnan(value) ? "–" : fmt::format("{:.6f}", value); }

}  // namespace

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

MetricCsv::MetricCsv(const std::string& path, Durability durability) : file_(path, durability) {
  file_.add("file,frame,identical,psnr_y_db,psnr_u_db,psnr_v_db,psnr_all_db,ssim_y,ssim_u,ssim_v,ssim_all\n");
}

void MetricCsv::add(const std::string& video, std::int64_t index, const FrameQuality& frame, const VideoQuality& quality) {
  file_.add("{},{},{}", csv_field(video), index, frame.identical ? 1 : 0);
  for (int p = 0; p < 4; ++p) file_.add(",{}", csv_number(quality.psnr_of(frame, p), 6));
  for (const double ssim : frame.ssim) file_.add(",{}", csv_number(ssim, 6));
  file_.add(",{}\n", csv_number(quality.ssim_of_all(frame), 6));
}

MetricJson::MetricJson(const std::string& path, const std::string& reference, Durability durability) : file_(path, durability) {
  ordered_json json = environment_json("c63cmp");
  json["reference"] = reference;
  file_.add("{{\n{},\n  \"videos\": [", json_members(json));
}

void MetricJson::begin(const std::string& video) {
  file_.add("{}\n  {{\n{},\n    \"per_frame\": [", first_video_ ? "" : ",", json_members({{"file", video}}));
  first_video_ = false;
  first_frame_ = true;
}

void MetricJson::add(const FrameQuality& frame, const VideoQuality& quality) {
  const ordered_json json = {{"psnr_y_db", json_number(quality.psnr_of(frame, 0))},
                             {"psnr_u_db", json_number(quality.psnr_of(frame, 1))},
                             {"psnr_v_db", json_number(quality.psnr_of(frame, 2))},
                             {"psnr_all_db", json_number(quality.psnr_of(frame, 3))},
                             {"ssim_y", json_number(frame.ssim[0])},
                             {"ssim_u", json_number(frame.ssim[1])},
                             {"ssim_v", json_number(frame.ssim[2])},
                             {"ssim_all", json_number(quality.ssim_of_all(frame))}};
  file_.add("{}\n      {}", first_frame_ ? "" : ",", json.dump());
  first_frame_ = false;
}

void MetricJson::end(const VideoQuality& q) {
  ordered_json json = {{"width_pixels", q.format.width},
                       {"height_pixels", q.format.height},
                       {"frames", q.frame_count},
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
    json["first_difference"] = {{"frame", d->frame},
                                {"plane", std::string(1, "YUV"[d->plane])},
                                {"x", d->x < 0 ? ordered_json(nullptr) : ordered_json(d->x)},
                                {"y", d->y < 0 ? ordered_json(nullptr) : ordered_json(d->y)},
                                {"reference", d->reference},
                                {"value", d->value}};
  }
  file_.add("\n    ],\n{}\n  }}", json_members(json));
}

void MetricJson::commit() {
  file_.add("\n  ]\n}}\n");
  file_.commit();
}

}  // namespace c63::tools
