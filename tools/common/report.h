#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/encoder.h"
#include "c63/quality.h"
#include "c63/target.h"
#include "common/json.h"
#include "files/output_file.h"
#include "encode/block_statistics.h"

namespace c63::tools {

/// Keeps values for quantiles. It keeps all values if there are fewer than 2^18. Otherwise it keeps every second, fourth,
/// eighth … value, so that memory is limited.
class SampledValues {
 public:
  void add(double value);
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  std::int64_t added_ = 0;
  std::int64_t distance_ = 1;  ///< one value of this many is kept
};

/// A stage of an encode, and its time in ms.
using Stage = std::pair<const char*, double>;
constexpr std::size_t kStages = 10;
[[nodiscard]] std::array<Stage, kStages> stages_of(const StageTimes& times);

/// Results of one encoder run, summed over its frames.
struct EncodeTotals {
  EncodeSummary summary;
  QualityTotals quality;
  StageTimes stages;
  BitCounts bits;
  SampledValues latencies_ms;
  std::vector<std::int64_t> key_frames;  ///< their indices
  std::uint64_t key_bytes = 0;  ///< of all key frames

  /// Adds a finished frame.
  void add(const EncodedFrame& frame, const EncoderSettings& settings);
};

/// The result of the same encode on the CPU, for --compare-cpu.
struct CpuComparison {
  EncodeSummary summary;
  bool identical = false;
  std::optional<std::int64_t> first_difference = {};  ///< index of the first frame whose bytes differ
};

/// Everything that c63enc reports about a run.
struct EncodeReport {
  std::string input;  ///< name of the file
  VideoFormat format;
  EncoderSettings settings;
  EncodeTotals totals = {};
  std::optional<CpuComparison> cpu = {};
  std::optional<KindBits> kinds = {};  ///< empty if they were not counted
  std::optional<Target> target = {};
  std::vector<TargetPass> passes = {};  ///< passes towards the target; those read from a statistics file come first
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
/// Shares of the sum of all stage times: "read 1 %, motion 62 %, … (start-up 0.18 s not counted)".
[[nodiscard]] std::string stages_line(const EncodeTotals& totals);
/// How busy each part of the pipeline was, and which part the others waited for: "limited by kernels: reading 31 %, bus
/// 66 %, kernels 97 %, writing 9 % of the time".
[[nodiscard]] std::string limit_line(const EncodeSummary& summary);
/// The time from reading a frame's last byte until its coded bytes are delivered: "latency: median 0.21 ms; 99 % of the
/// frames take 0.40 ms or less".
[[nodiscard]] std::string latency_line(const EncodeTotals& totals);
/// "bits: headers 2.1 %, flags 9.8 %, vectors 6.0 %, DC 14.2 %, AC 52.5 %, ends of blocks 15.4 %"
[[nodiscard]] std::string kinds_line(const KindBits& kinds);
/// Returns a table of the stages, one line each: total ms, mean ms per frame, share.
[[nodiscard]] std::vector<std::string> timing_table(const EncodeTotals& totals);
/// "encoded 300 frames in 1.28 s (235.0 fps), 3380.99 kb/s, 5071489 bytes". `wanted` is the number of frames of the
/// whole input, if known. If the run was stopped, the line also contains that number.
[[nodiscard]] std::string result_line(const EncodeTotals& totals, const VideoFormat& format,
                                      std::optional<std::int64_t> wanted = {});
/// "stopped after 82 of 300 frames"
[[nodiscard]] std::string stopped_text(std::int64_t frames, std::optional<std::int64_t> wanted);
/// "on the CPU: cpu (…) took 12.30 s, cuda (…) 1.28 s: 9.61 times as fast, bytes identical"
[[nodiscard]] std::string comparison_line(const EncodeTotals& totals, const CpuComparison& cpu);

[[nodiscard]] double kilobits_per_second(const EncodeSummary& summary, const VideoFormat& format);
[[nodiscard]] double frames_per_second(const EncodeSummary& summary);
/// Returns the value that comes after this share (0..1) of the sorted values: 0 gives the smallest, 1 the largest. Between
/// two values it is the lower one. Returns 0 if there are no values.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// Returns the report as JSON. The key of each figure contains its unit. Infinite and missing figures are null.
[[nodiscard]] nlohmann::ordered_json to_json(const EncodeReport& report);
[[nodiscard]] nlohmann::ordered_json to_json(const TargetPass& pass);
[[nodiscard]] nlohmann::ordered_json kinds_json(const KindBits& kinds);
/// The settings that an encode depends on.
[[nodiscard]] nlohmann::ordered_json settings_json(const EncoderSettings& settings);
/// What identifies a search from a file, as reports and records have it.
[[nodiscard]] nlohmann::ordered_json user_search_json(const UserSearch& search);
/// The machine on which something is measured.
struct Machine {
  std::string cpu;            ///< model name; "unknown" if the system does not say
  unsigned logical_cpus = 0;  ///< CPUs that this process may use
  std::uint64_t memory_bytes = 0;
  std::string system;  ///< kernel name, release and architecture
};

[[nodiscard]] Machine this_machine();

/// Version, compiler and machine, for the JSON of any program.
[[nodiscard]] nlohmann::ordered_json environment_json(const std::string& program);
/// A CSV file with one row per frame.
class FrameCsv {
 public:
  FrameCsv(const std::string& path, Writing writing);
  /// Adds a row. If `kinds` is null, the columns of bits by kind stay empty.
  void add(const EncodedFrame& frame, const EncoderSettings& settings, const KindBits* kinds);
  void commit() { file_.commit(); }
  [[nodiscard]] std::string commit_part() { return file_.commit_part(); }

 private:
  OutputFile file_;
};

}  // namespace c63::tools
