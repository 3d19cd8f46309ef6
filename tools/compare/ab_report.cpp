#include "compare/ab_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "c63/error.h"
#include "common/json.h"
#include "common/report.h"
#include "common/text.h"
#include "motion/motion_page.h"

#if defined(C63_HAVE_CHARTJS)
namespace c63::tools::report_files {
// The build makes these constants from the files in tools/compare/report and from Debian's libjs-chart.js.
extern const std::string_view html;
extern const std::string_view css;
extern const std::string_view js;
extern const std::string_view chart;
extern const std::string_view licence;
}  // namespace c63::tools::report_files
#endif

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

std::string delta_text(const AbResult& r, std::size_t input, std::size_t configuration) {
  std::string text;
  for (const auto& d : r.deltas) {
    if (d["anchor"] != r.anchor || d["input"] != input || d["configuration"] != configuration) continue;
    const auto& rate = d["bd_rate_percent"];
    const std::string metric = d["metric"];
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", metric,
                    rate.is_null() ? d["why_not"].get<std::string>() : fmt::format("{:+.2f} %", rate.get<double>()));
    if (!d["bd_quality"].is_null() && metric != "ssim_y")
      text += fmt::format(" ({:+.3f} dB)", d["bd_quality"].get<double>());
  }
  return text;
}

ordered_json point_json(const AbResult& r, const AbPoint& p) {
  const Spread speed = r.frames_per_s(p);
  const VideoQuality& q = p.quality;
  ordered_json json = {{"input", p.input},
                       {"configuration", p.configuration},
                       {"quantizer", p.quantizer},
                       {"command", p.command},
                       {"backend", p.backend},
                       {"bytes", p.bytes},
                       {"md5", p.digest},
                       {"reproducible", p.reproducible},
                       {"bitrate_kb_per_s", p.kilobits_per_s},
                       {"frames_per_s", speed.median},
                       {"frames_per_s_low", speed.low},
                       {"frames_per_s_high", speed.high}};
  json.update(figures_json(figures_of(q)));
  json.update({{"encode_s", p.encode_s},
               {"process_s", p.process_s},
               {"cpu_s", p.cpu_s},
               {"start_up_s", p.start_up_s},
               {"stages", p.stages}});
  ordered_json& frames = json["frames"] = ordered_json::object();
  frames["bits"] = p.frame_bits;
  frames["key"] = p.frame_keys;
  if (!p.why_no_bits.empty()) frames["why_no_bits"] = p.why_no_bits;
  ordered_json& psnr = frames["psnr_y_db"] = ordered_json::array();
  for (const FrameQuality& f : q.frames) {
    const double value = q.psnr_of(f, 0);
    psnr.push_back(std::isfinite(value) ? ordered_json(std::round(value * 1000) / 1000) : ordered_json(nullptr));
  }
  return json;
}

}  // namespace

std::string ab_text(const AbResult& r) {
  std::size_t width = 6;
  for (const Configuration& c : r.configurations) width = std::max(width, c.name.size());
  std::string text;
  for (std::size_t input = 0; input < r.inputs.size(); ++input) {
    text += fmt::format("{}: {}x{}, {}\n", one_line(r.inputs[input].name), r.inputs[input].format.width,
                        r.inputs[input].format.height, counted(r.inputs[input].frames, "frame"));
    text += fmt::format("  {:<{}}  {:>5}  {:>10}  {:>11}  {:>8}  {:>8}  {:>7}  {:>9}  {:>7}\n", "side", width, "qp", "bytes",
                        "kb/s", "PSNR Y", "PSNR all", "SSIM Y", "fps", "spread");
    for (const AbPoint& p : r.points) {
      if (p.input != input) continue;
      const Spread speed = r.frames_per_s(p);
      text += fmt::format("  {:<{}}  {:>5}  {:>10}  {:>11.2f}  {:>8.3f}  {:>8.3f}  {:>7.5f}  {:>9.1f}  {:>5.1f} %{}\n",
                          r.configurations[p.configuration].name, width, p.quantizer.empty() ? "-" : p.quantizer, p.bytes,
                          p.kilobits_per_s, p.quality.psnr_of_video(0), p.quality.psnr_of_video(3),
                          p.quality.totals.mean_ssim(0), speed.median, 100 * speed.relative(),
                          p.reproducible ? "" : "  (bytes differ from run to run)");
    }
  }
  for (std::size_t c = 0; c < r.configurations.size(); ++c) {
    if (c == r.anchor) continue;
    const std::string pair = fmt::format("{} against {}", r.configurations[c].name, r.configurations[r.anchor].name);
    for (const auto& s : r.speeds) {
      if (s["anchor"] != r.anchor || s["configuration"] != c || !s["input"].is_null()) continue;
      text += fmt::format("{}: {:.3f} times as fast ({})\n", pair, s["ratio"].get<double>(),
                          s["low"].is_null()
                              ? "fewer than three rounds, no interval"
                              : fmt::format("95 %: {:.3f} to {:.3f}", s["low"].get<double>(), s["high"].get<double>()));
    }
    for (std::size_t input = 0; input < r.inputs.size(); ++input) {
      text += fmt::format("{}: BD-rate on {}: {}\n", pair, one_line(r.inputs[input].name), delta_text(r, input, c));
    }
    std::size_t compared = 0;
    std::size_t same = 0;
    bool expected = true;
    for (const auto& bytes : r.bytes) {
      if (bytes["anchor"] != r.anchor || bytes["configuration"] != c) continue;
      ++compared;
      same += bytes["identical"].get<bool>() ? 1 : 0;
      expected = expected && bytes["same_settings"].get<bool>();
    }
    // With different settings, different bytes are normal and need no line.
    if (compared > 0 && (expected || same > 0)) text += fmt::format("{}: bytes identical in {} of {} streams\n", pair, same, compared);
  }
  if (r.stopped) text += "Stopped: these are the rounds that were finished.\n";
  text += r.process_clock ? "Speeds are of whole processes, start-up included, since not all sides are c63enc.\n"
                          : "Speeds are c63enc's own, start-up not counted.\n";
  return text;
}

std::string ab_csv(const AbResult& r) {
  std::string csv =
      "input,configuration,quantizer,frames,bytes,kb_per_s,psnr_y_db,psnr_u_db,psnr_v_db,psnr_all_db,ssim_y,ssim_all,"
      "frames_per_s,frames_per_s_low,frames_per_s_high,start_up_s,cpu_s,md5,reproducible,command\n";
  for (const AbPoint& p : r.points) {
    const Spread speed = r.frames_per_s(p);
    const VideoQuality& q = p.quality;
    csv += fmt::format("{},{},{},{},{},{:.3f},{:.4f},{:.4f},{:.4f},{:.4f},{:.6f},{:.6f},{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{},{},{}\n",
                       csv_field(r.inputs[p.input].name), csv_field(r.configurations[p.configuration].name), p.quantizer,
                       r.inputs[p.input].frames, p.bytes, p.kilobits_per_s, q.psnr_of_video(0), q.psnr_of_video(1),
                       q.psnr_of_video(2), q.psnr_of_video(3), q.totals.mean_ssim(0), q.ssim_of_all(), speed.median,
                       speed.low, speed.high, p.start_up_s, spread_of(p.cpu_s).median, p.digest, p.reproducible ? 1 : 0,
                       csv_field(p.command));
  }
  return csv;
}

ordered_json ab_json(const AbResult& r) {
  ordered_json json = environment_json("c63cmp");
  json["created"] = r.created;
  json["devices"] = r.devices;
  json["repeat"] = r.repeat;
  json["warmup"] = r.warmup;
  json["stopped"] = r.stopped;
  json["clock"] = r.process_clock ? "process" : "encode";
  json["inputs"] = ordered_json::array();
  for (const AbInput& input : r.inputs) {
    json["inputs"].push_back({{"file", input.name},
                              {"width_pixels", input.format.width},
                              {"height_pixels", input.format.height},
                              {"frames", input.frames},
                              {"frames_per_s", input.format.rate.value()}});
  }
  json["configurations"] = ordered_json::array();
  for (const Configuration& c : r.configurations) {
    json["configurations"].push_back({{"name", c.name}, {"text", c.text}, {"external", c.external}, {"program", c.program}, {"quantizers", c.quantizers}});
    if (!c.version.empty()) json["configurations"].back()["version"] = c.version;
  }
  json["anchor"] = r.anchor;
  json["points"] = ordered_json::array();
  for (const AbPoint& p : r.points) json["points"].push_back(point_json(r, p));
  json["deltas"] = r.deltas;
  json["speeds"] = r.speeds;
  json["bytes"] = r.bytes;
  return json;
}

#if defined(C63_HAVE_CHARTJS)
void require_charts() {}

std::string ab_html(const AbResult& result) {
  return fill_in(report_files::html, '@', '@',
                 {{"CSS", std::string(report_files::css)},
                  {"LICENCE", escaped(report_files::licence)},
                  {"DATA", embedded(ab_json(result))},
                  {"CSV", embedded(ab_csv(result))},
                  {"CHART", std::string(report_files::chart)},
                  {"ANALYZER", embedded(std::string(analyzer_page()))},
                  {"FRAMES", embedded(result.frames)},
                  {"JS", std::string(report_files::js)}});
}
#else
void require_charts() {
  throw Error(ErrorKind::usage, "C63-NO-CHARTS", "this c63 was built without Chart.js (package libjs-chart.js), which --html needs");
}
std::string ab_html(const AbResult& /*result*/) { return {}; }
#endif

}  // namespace c63::tools
