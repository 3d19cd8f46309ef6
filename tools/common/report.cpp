#include "common/report.h"
#include "common/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "c63/user_search.h"

namespace c63::tools {
namespace {

constexpr std::size_t kFirstStages = 8;  // in the CSV, the times of the other stages come last, after the bits by kind

double sum_of(const std::array<Stage, kStages>& stages) {
  return std::accumulate(stages.begin(), stages.end(), 0.0, [](double sum, const Stage& s) { return sum + s.second; });
}

}  // namespace

std::array<Stage, kStages> stages_of(const StageTimes& t) {
  return {{{"read", t.read},
           {"upload", t.upload},
           {"motion", t.motion},
           {"transform", t.transform},
           {"measure", t.measure},
           {"entropy", t.entropy},
           {"download", t.download},
           {"write", t.write},
           {"lookahead", t.lookahead},
           {"filter", t.filter}}};
}

void EncodeTotals::add(const EncodedFrame& frame, const EncoderSettings& settings) {
  if (settings.measurement.psnr) quality.add(frame.statistics.sse, measured_samples(measured_format(settings)));
  if (settings.measurement.ssim) quality.add_ssim(frame.statistics.ssim);
  if (frame.key) {
    key_frames.push_back(frame.index);
    key_bytes += frame.bytes.size();
  }
  stages += frame.statistics.times;
  bits += frame.statistics.bits;
  latencies_ms.add(frame.statistics.latency_ms);
}

void SampledValues::add(double value) {
  constexpr std::size_t kMost = 1 << 18;
  if (added_++ % distance_ != 0) return;
  values_.push_back(value);
  if (values_.size() < kMost) return;
  for (std::size_t i = 0; i < kMost / 2; ++i) values_[i] = values_[2 * i];
  values_.resize(kMost / 2);
  distance_ *= 2;
}

double kilobits_per_second(const EncodeSummary& s, const VideoFormat& format) {
  return s.frames == 0 ? 0
                       : static_cast<double>(s.bytes) * 8 / 1000 * format.rate.value() / static_cast<double>(s.frames);
}

double frames_per_second(const EncodeSummary& s) {
  return s.elapsed_ms > 0 ? static_cast<double>(s.frames) * 1000 / s.elapsed_ms : 0;
}

std::string input_line(const std::string& input, const VideoFormat& format, std::optional<std::int64_t> frames) {
  const std::string count = frames ? ", " + counted(*frames, "frame") : "";
  return fmt::format("{} {}x{} yuv420p{} at {:.6g} fps", input == "-" ? "stdin" : input, format.width, format.height,
                     count, format.rate.value());
}

std::string settings_line(const EncodeSummary& summary, const EncoderSettings& s) {
  const std::string preset =
      s.coding.preset == Preset::reference ? "" : fmt::format("preset {}, ", name(s.coding.preset));
  return fmt::format("{}, {}, {}{} search ±{}, qp {}, keyint {}{}", summary.backend, counted(summary.lanes, "lane"), preset,
                     s.coding.user_search != nullptr ? s.coding.user_search->name : name(s.coding.method), s.coding.search_range, s.coding.qp,
                     s.coding.key_interval,
                     s.coding.scene_cuts ? " and at scene cuts" : "");
}

std::string devices_line(const EncodeSummary& summary) {
  std::string line;
  for (const DeviceShare& device : summary.devices) {
    line += fmt::format("{}{}: {} and {}", line.empty() ? "" : "; ", device.description, counted(device.gops, "GOP"),
                        counted(device.frames, "frame"));
  }
  return line;
}

std::string quality_line(const EncodeTotals& totals, const EncoderSettings& settings) {
  const EncodeSummary& s = totals.summary;
  const QualityTotals& q = totals.quality;
  std::string line = fmt::format("key {}, inter {}", s.key_frames, s.frames - s.key_frames);
  if (settings.measurement.psnr) {
    line += fmt::format("; PSNR Y {:.3f} U {:.3f} V {:.3f} all {:.3f}", q.psnr_of_plane(0), q.psnr_of_plane(1),
                        q.psnr_of_plane(2), q.psnr_of_all());
  }
  if (settings.measurement.ssim) {
    const double ssim = q.mean_ssim(0);  // NaN if the picture is smaller than SSIM's 8x8 window
    line += std::isnan(ssim) ? std::string("; SSIM Y –") : fmt::format("; SSIM Y {:.5f}", ssim);
  }
  return line;
}

std::string stages_line(const EncodeTotals& totals) {
  const auto stages = stages_of(totals.stages);
  const double sum = sum_of(stages);
  std::string line;
  for (const auto& [stage, ms] : stages) {
    if (ms > 0) line += fmt::format("{}{} {:.0f} %", line.empty() ? "" : ", ", stage, 100 * ms / sum);
  }
  return fmt::format("{} (start-up {:.2f} s not counted)", line, totals.summary.start_up_ms / 1000);
}

std::string limit_line(const EncodeSummary& summary) {
  const EncodeLoad& load = summary.load;
  const bool on_gpu = load.bus > 0;
  std::vector<Stage> parts = {{"reading", load.reading}};
  if (load.looking_ahead > 0) parts.emplace_back("looking ahead", load.looking_ahead);
  if (on_gpu) parts.emplace_back("bus", load.bus);
  parts.emplace_back(on_gpu ? "kernels" : "coding", load.coding);
  parts.emplace_back("writing", load.writing);
  const auto busiest = std::ranges::max_element(parts, {}, &Stage::second);
  constexpr double kBusy = 0.7;
  std::string line = busiest->second >= kBusy ? fmt::format("limited by {}:", busiest->first)
                                              : std::string("no stage is busy all the time:");
  for (const auto& [name, share] : parts) {
    line += fmt::format("{} {} {:.0f} %", name == parts.front().first ? "" : ",", name, 100 * share);
  }
  return line + " of the time";
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

std::string latency_line(const EncodeTotals& totals) {
  return fmt::format("latency: median {:.2f} ms; 99 % of the frames take {:.2f} ms or less",
                     quantile(totals.latencies_ms.values(), 0.5), quantile(totals.latencies_ms.values(), 0.99));
}

std::string kinds_line(const KindBits& kinds) {
  const double all = std::max(1.0, static_cast<double>(kinds.sum()));
  const auto share = [&](std::uint64_t bits) { return 100 * static_cast<double>(bits) / all; };
  return fmt::format(
      "bits: headers {:.1f} %, flags {:.1f} %, vectors {:.1f} %, DC {:.1f} %, AC {:.1f} %, ends of blocks {:.1f} %",
      share(kinds.header), share(kinds.flags), share(kinds.vectors), share(kinds.dc), share(kinds.ac),
      share(kinds.end_of_block));
}

std::vector<std::string> timing_table(const EncodeTotals& totals) {
  const auto stages = stages_of(totals.stages);
  const double sum = sum_of(stages);
  const auto frames = static_cast<double>(std::max<std::int64_t>(totals.summary.frames, 1));
  std::vector<std::string> lines = {fmt::format("{:<10}{:>12}{:>12}{:>10}", "stage", "total ms", "ms/frame", "share")};
  for (const auto& [stage, ms] : stages) {
    lines.push_back(
        fmt::format("{:<10}{:>12.1f}{:>12.4f}{:>8.1f} %", stage, ms, ms / frames, sum > 0 ? 100 * ms / sum : 0));
  }
  lines.push_back(fmt::format("{:<10}{:>12.1f}{:>12.4f}   (stages of lanes and threads overlap)", "elapsed",
                              totals.summary.elapsed_ms, totals.summary.elapsed_ms / frames));
  return lines;
}

std::string stopped_text(std::int64_t frames, std::optional<std::int64_t> wanted) {
  return wanted ? fmt::format("stopped after {} of {}", frames, counted(*wanted, "frame"))
                : "stopped after " + counted(frames, "frame");
}

std::string result_line(const EncodeTotals& totals, const VideoFormat& format, std::optional<std::int64_t> wanted) {
  const EncodeSummary& s = totals.summary;
  const std::string stopped = s.stopped ? stopped_text(s.frames, wanted) : "";
  const std::string dropped = s.dropped > 0 ? fmt::format(", {} more were read and dropped", s.dropped) : "";
  return fmt::format("{}{}{}encoded {} in {:.2f} s ({:.1f} fps), {:.2f} kb/s, {} bytes", stopped, dropped, s.stopped ? ": " : "",
                     counted(s.frames, "frame"), s.elapsed_ms / 1000, frames_per_second(s),
                     kilobits_per_second(s, format), s.bytes);
}

std::string comparison_line(const EncodeTotals& totals, const CpuComparison& cpu) {
  const double here_s = totals.summary.elapsed_ms / 1000;
  const double cpu_s = cpu.summary.elapsed_ms / 1000;
  return fmt::format("on the CPU: {} took {:.2f} s, {} {:.2f} s: {:.2f} times as fast, bytes {}", cpu.summary.backend,
                     cpu_s, totals.summary.backend, here_s, here_s > 0 ? cpu_s / here_s : 0,
                     cpu.identical ? "identical" : "DIFFER");
}

FrameCsv::FrameCsv(const std::string& path, Writing writing) : file_(path, writing) {
  file_.write(
      "frame,type,bytes,header_bits,motion_bits,luma_bits,chroma_bits,psnr_y_db,psnr_u_db,psnr_v_db,psnr_all_db,"
      "ssim_y,ssim_u,ssim_v,luma_sad,read_ms,upload_ms,motion_ms,transform_ms,measure_ms,entropy_ms,download_ms,"
      "write_ms,flag_bits,vector_bits,dc_bits,ac_bits,end_of_block_bits,lookahead_ms,filter_ms\n");
}

void FrameCsv::add(const EncodedFrame& frame, const EncoderSettings& settings, const KindBits* kinds) {
  const FrameStatistics& s = frame.statistics;
  std::string row = fmt::format("{},{},{},{},{},{},{}", frame.index, frame.key ? "key" : "inter", frame.bytes.size(),
                                s.bits.header, s.bits.motion, s.bits.luma, s.bits.chroma);
  if (settings.measurement.psnr) {
    QualityTotals quality;
    quality.add(s.sse, measured_samples(measured_format(settings)));
    for (int plane = 0; plane < 3; ++plane) row += fmt::format(",{:.4f}", quality.psnr_of_plane(plane));
    row += fmt::format(",{:.4f}", quality.psnr_of_all());
  } else {
    row += ",,,,";
  }
  for (const double ssim : s.ssim) row += settings.measurement.ssim ? fmt::format(",{:.6f}", ssim) : ",";
  row += fmt::format(",{}", s.luma_sad);
  const auto stages = stages_of(s.times);
  for (std::size_t i = 0; i < kFirstStages; ++i) row += fmt::format(",{:.4f}", stages[i].second);
  row += kinds != nullptr
             ? fmt::format(",{},{},{},{},{}", kinds->flags, kinds->vectors, kinds->dc, kinds->ac, kinds->end_of_block)
             : ",,,,,";
  for (std::size_t i = kFirstStages; i < kStages; ++i) row += fmt::format(",{:.4f}", stages[i].second);
  file_.write(row + "\n");
}

}  // namespace c63::tools
