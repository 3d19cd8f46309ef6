#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/gop_cap.h"
#include "c63/quality.h"
#include "c63/target.h"
#include "io/output_file.h"
#include "pipeline/block_statistics.h"

namespace c63::tools {

/// How far whole frames moved, over the frames for which it was measured.
struct GlobalMotionTotals {
  std::int64_t frames = 0;
  std::int64_t textureless = 0;  ///< of them: frames whose shift could not be measured
  FrameShift sum;                ///< mean over the others
  double length = 0;             ///< sum of their lengths

  void add(const GlobalMotion& motion);
  /// Mean over the frames that have a shift; zeros if there are none.
  [[nodiscard]] FrameShift mean() const;
  [[nodiscard]] double mean_length() const;
};

/// Values for quantiles: all of up to 2^18, else evenly spaced ones, so that memory is limited.
class SampledValues {
 public:
  void add(double value);
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::int64_t added_ = 0;
  std::int64_t distance_ = 1;  ///< of this many values one is kept
};

/// Results of one encoder run, summed over its frames.
struct EncodeTotals {
  EncodeSummary summary;
  QualityTotals quality;
  StageTimes stages;
  BitCounts bits;
  SampledValues latencies_ms;
  std::vector<GopFigures> gops;
  GlobalMotionTotals global_motion;

  /// Adds one frame of width x height.
  void add(const EncodedFrame& frame, const EncoderSettings& settings);
};

/// Result of the same encode on the CPU, for --compare-cpu.
struct CpuComparison {
  EncodeSummary summary;
  bool identical = false;
  std::optional<std::int64_t> first_difference = {};  ///< index of the first frame whose bytes differ
};

/// Everything that c63enc reports about a run.
struct EncodeReport {
  std::string input;  ///< the file's name
  VideoFormat format;
  EncoderSettings settings;
  EncodeTotals totals = {};                    ///< of the run of median speed
  std::vector<double> runs_frames_per_s = {};  ///< of each measured run, in order
  std::optional<CpuComparison> cpu = {};
  std::optional<KindBits> kinds = {};  ///< if they were counted
  std::optional<Target> target = {};
  std::vector<TargetPass> passes = {};  ///< passes towards the target; those of a statistics file come first
  std::optional<double> gop_cap = {};
  std::map<std::int64_t, GopQuality> own_qualities = {};  ///< GOPs with a cap, by their first frames
};

/// "FOREMAN_352x288.yuv 352x288 yuv420p, 300 frames at 25 fps"
[[nodiscard]] std::string input_line(const std::string& input, const VideoFormat& format,
                                     std::optional<std::int64_t> frames);
/// "cpu (AVX-512, 2 threads), 2 lanes, full search ±16, qp 25, keyint 100"
[[nodiscard]] std::string settings_line(const EncodeSummary& summary, const EncoderSettings& settings);
/// "cpu (avx512, 16 threads): 4 GOPs and 400 frames; cuda:0 NVIDIA H200 (sm_90): 26 GOPs and 2600 frames"
[[nodiscard]] std::string devices_line(const EncodeSummary& summary);
/// "key 3, inter 297; PSNR Y 36.611 U 43.976 V 43.727 all 37.980; SSIM Y 0.96092"
[[nodiscard]] std::string quality_line(const EncodeTotals& totals, const EncoderSettings& settings);
/// "global motion: mean -0.021, 0.004, mean length 0.103 samples in 297 frames; 2 more have no texture"
[[nodiscard]] std::string global_motion_line(const GlobalMotionTotals& totals);
/// "read 1 %, motion 62 %, … (start-up 0.18 s not counted)": shares of the sum of all stage times.
[[nodiscard]] std::string stages_line(const EncodeTotals& totals);
/// "limited by kernels: reading 31 %, bus 66 %, kernels 97 %, writing 9 % of the time": how busy each part was, and
/// which one the run had to wait for.
[[nodiscard]] std::string limit_line(const EncodeSummary& summary);
/// "latency 0.21 ms, 0.40 ms at most for 99 % of the frames": the time from a frame's last byte read until its bytes
/// are handed out.
[[nodiscard]] std::string latency_line(const EncodeTotals& totals);
/// "bits: headers 2.1 %, flags 9.8 %, vectors 6.0 %, DC 14.2 %, AC 52.5 %, ends of blocks 15.4 %"
[[nodiscard]] std::string kinds_line(const KindBits& kinds);
/// A table of the stages: total and mean milliseconds, share.
[[nodiscard]] std::vector<std::string> timing_table(const EncodeTotals& totals);
/// "5 runs: median 235.0 fps, 230.1 to 238.2 (spread 3.4 %)"
[[nodiscard]] std::string runs_line(const std::vector<double>& frames_per_s);
/// "encoded 300 frames in 1.28 s (235.0 fps), 3380.99 kb/s, 5071489 bytes"
/// `wanted` are the frames of the whole input, if that is known: a run that was stopped tells it.
[[nodiscard]] std::string result_line(const EncodeTotals& totals, const VideoFormat& format,
                                      std::optional<std::int64_t> wanted = {});
/// "stopped after 82 of 300 frames"
[[nodiscard]] std::string stopped_text(std::int64_t frames, std::optional<std::int64_t> wanted);
/// "CPU: cpu (…) 12.30 s, here 1.28 s: 9.6 times as fast, bytes identical"
[[nodiscard]] std::string comparison_line(const EncodeTotals& totals, const CpuComparison& cpu);

[[nodiscard]] double kilobits_per_second(const EncodeSummary& summary, const VideoFormat& format);
[[nodiscard]] double frames_per_second(const EncodeSummary& summary);
/// Returns the value that this share of all values does not exceed; 0 if there are none.
[[nodiscard]] double quantile(std::vector<double> values, double share);
/// Returns the middle value. Of an even number of values, the lower one in the middle.
[[nodiscard]] std::size_t index_of_median(const std::vector<double>& values);

/// Returns the report as JSON. The key of each figure contains its unit. Infinite and missing figures are null.
[[nodiscard]] nlohmann::ordered_json to_json(const EncodeReport& report);
[[nodiscard]] nlohmann::ordered_json to_json(const TargetPass& pass);
[[nodiscard]] nlohmann::ordered_json kinds_json(const KindBits& kinds);
/// The settings that an encode depends on.
[[nodiscard]] nlohmann::ordered_json settings_json(const EncoderSettings& settings);
/// Version, compiler and machine, for the JSON of any program.
[[nodiscard]] nlohmann::ordered_json environment_json(const std::string& program);
/// Returns JSON as write_json() writes it, without the last line end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);
/// Returns the members of an object, without its braces and the line ends next to them, so that others can precede or
/// follow.
[[nodiscard]] std::string json_members(const nlohmann::ordered_json& json);
/// Writes indented JSON to a file ("-": stdout) and commits it. `is_part`: as for OutputFile::commit_part(). Throws
/// Error (output).
void write_json(const std::string& path, const nlohmann::ordered_json& json, Durability durability = Durability::process,
                bool is_part = false);
void write_json(OutputFile& file, const nlohmann::ordered_json& json);

/// One row per frame.
class FrameCsv {
 public:
  FrameCsv(const std::string& path, Durability durability);
  /// Without `kinds` the columns of bits by kind stay empty.
  void add(const EncodedFrame& frame, const EncoderSettings& settings, const KindBits* kinds);
  void commit() { file_.commit(); }
  [[nodiscard]] std::string commit_part() { return file_.commit_part(); }

 private:
  OutputFile file_;
};

}  // namespace c63::tools
