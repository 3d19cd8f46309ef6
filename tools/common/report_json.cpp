#include "common/report.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "c63/user_search.h"
#include "c63/version.h"
#include "common/json.h"
#include "common/options.h"

namespace c63::tools {

namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

unsigned usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::thread::hardware_concurrency();
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.logical_cpus = usable_cpus();
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    machine.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  utsname names{};
  if (uname(&names) == 0) machine.system = std::string(names.sysname) + " " + names.release + " " + names.machine;
  return machine;
}

namespace {

using nlohmann::ordered_json;

ordered_json devices_json(const std::vector<DeviceShare>& devices) {
  ordered_json list = ordered_json::array();
  for (const DeviceShare& d : devices) list.push_back({{"device", d.description}, {"gops", d.gops}, {"frames", d.frames}});
  return list;
}

ordered_json summary_json(const EncodeSummary& s) {
  return {{"backend", s.backend},
          {"devices", devices_json(s.devices)},
          {"lanes", s.lanes},
          {"frames", s.frames},
          {"key_frames", s.key_frames},
          {"inter_frames", s.frames - s.key_frames},
          {"bytes", s.bytes},
          {"elapsed_s", s.elapsed_ms / 1000},
          {"start_up_s", s.start_up_ms / 1000},
          {"frames_per_s", frames_per_second(s)},
          {"load",
           {{"reading", s.load.reading},
            {"bus", s.load.bus},
            {"coding", s.load.coding},
            {"writing", s.load.writing},
            {"looking_ahead", s.load.looking_ahead}}},
          {"stopped", s.stopped}};
}

ordered_json quality_json(const EncodeTotals& totals, const EncoderSettings& settings) {
  ordered_json json = ordered_json::object();
  const QualityTotals& q = totals.quality;
  if (settings.measurement.psnr) {
    json["psnr_y_db"] = json_number(q.psnr_of_plane(0));
    json["psnr_u_db"] = json_number(q.psnr_of_plane(1));
    json["psnr_v_db"] = json_number(q.psnr_of_plane(2));
    json["psnr_all_db"] = json_number(q.psnr_of_all());
  }
  if (settings.measurement.ssim) {
    json["ssim_y"] = json_number(q.mean_ssim(0));
    json["ssim_u"] = json_number(q.mean_ssim(1));
    json["ssim_v"] = json_number(q.mean_ssim(2));
  }
  return json;
}

ordered_json stages_json(const StageTimes& times) {
  ordered_json json;
  for (const auto& [stage, ms] : stages_of(times)) json[std::string(stage) + "_ms"] = ms;
  return json;
}

}  // namespace

ordered_json user_search_json(const UserSearch& search) { return {{"file", search.name}, {"sha256", search.digest}}; }

ordered_json settings_json(const EncoderSettings& s) {
  // These four options come first in the JSON. The others follow in the order of the table of options.
  ordered_json json = {{"preset", nullptr}, {"tune", nullptr}, {"qp", nullptr}, {"lambda_scale", nullptr}};
  for_each_option(s, [&](const OptionInfo& option, const auto& value) {
    if (option.group == "Measurement") return;
    std::string key(option.key.empty() ? option.name : option.key);
    std::ranges::replace(key, '-', '_');
    json[key] = option_json(value);
  });
  if (s.coding.user_search != nullptr) json["search_method"] = user_search_json(*s.coding.user_search);
  json["differences_from_course"] = differences_from_course(s);
  return json;
}

ordered_json to_json(const TargetPass& pass) {
  const auto quality = [](const std::optional<double>& value) { return value ? json_number(*value) : ordered_json(nullptr); };
  return {{"qp", pass.qp},
          {"lambda_scale", pass.lambda_scale},
          {"frames", pass.figures.frames},
          {"bytes", pass.figures.bytes},
          {"frames_per_s", pass.figures.frames_per_s},
          {"psnr_y_db", quality(pass.figures.psnr_y_db)},
          {"psnr_all_db", quality(pass.figures.psnr_all_db)},
          {"ssim_y", quality(pass.figures.ssim_y)},
          {"key_bytes", pass.figures.key_bytes ? ordered_json(*pass.figures.key_bytes) : ordered_json(nullptr)}};
}

ordered_json kinds_json(const KindBits& kinds) {
  return {{"header_bits", kinds.header}, {"flag_bits", kinds.flags}, {"vector_bits", kinds.vectors},
          {"dc_bits", kinds.dc},         {"ac_bits", kinds.ac},      {"end_of_block_bits", kinds.end_of_block}};
}

ordered_json environment_json(const std::string& program) {
  const Machine machine = this_machine();
  return {{"program", program},
          {"version", version()},
          {"revision", revision()},
          {"compiler", compiler()},
          {"machine",
           {{"cpu", machine.cpu},
            {"logical_cpus", machine.logical_cpus},
            {"memory_bytes", machine.memory_bytes},
            {"system", machine.system},
            {"best_simd", name(available_simd_levels().back())}}}};
}

ordered_json to_json(const EncodeReport& report) {
  const EncodeSummary& summary = report.totals.summary;
  const VideoFormat& format = report.format;
  ordered_json json = environment_json("c63enc");
  json["input"] = {{"file", report.input},
                   {"width_pixels", format.width},
                   {"height_pixels", format.height},
                   {"rate_numerator", format.rate.numerator},
                   {"rate_denominator", format.rate.denominator}};
  json["settings"] = settings_json(report.settings);
  json["result"] = summary_json(summary);
  json["result"]["bitrate_kb_per_s"] = kilobits_per_second(summary, format);
  json["result"]["key_frame_indices"] = ordered_json::array();
  for (const std::int64_t frame : report.totals.key_frames) json["result"]["key_frame_indices"].push_back(frame);
  json["quality"] = quality_json(report.totals, report.settings);
  json["stages"] = stages_json(report.totals.stages);
  json["bits"] = {{"header_bits", report.totals.bits.header},
                  {"motion_bits", report.totals.bits.motion},
                  {"luma_bits", report.totals.bits.luma},
                  {"chroma_bits", report.totals.bits.chroma}};
  json["bits_by_kind"] = nullptr;
  if (report.kinds) json["bits_by_kind"] = kinds_json(*report.kinds);
  if (report.target) {
    json["target"] = {{"what", describe(*report.target)}, {"value", report.target->value}, {"passes", ordered_json::array()}};
    for (const TargetPass& pass : report.passes) json["target"]["passes"].push_back(to_json(pass));
  }
  json["latency_ms"] = {{"median", quantile(report.totals.latencies_ms.values(), 0.5)},
                        {"p99", quantile(report.totals.latencies_ms.values(), 0.99)}};
  if (report.cpu) {
    json["compare_cpu"] = summary_json(report.cpu->summary);
    json["compare_cpu"]["bytes_identical"] = report.cpu->identical;
    json["compare_cpu"]["speed_up"] =
        summary.elapsed_ms > 0 ? json_number(report.cpu->summary.elapsed_ms / summary.elapsed_ms) : ordered_json(nullptr);
  }
  return json;
}

}  // namespace c63::tools
