#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/bd_rate.h"
#include "c63/picture.h"
#include "compare/ab_plan.h"
#include "compare/metrics.h"

namespace c63::tools {

/// Median, smallest and largest of repeated measurements.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Returns high - low as a share of the median.
  [[nodiscard]] double relative() const { return median > 0 ? (high - low) / median : 0; }
};

/// Needs at least one value. For an even number of values, the median is the mean of the middle two.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// How many times as fast as the anchor a side is, with the 95 % confidence interval if there are at least three
/// rounds.
struct Ratio {
  double value = 1;
  std::optional<double> low;
  std::optional<double> high;
};

/// Speeds of two sides at one point. Entries with the same index are from the same round.
struct PairedSpeeds {
  std::vector<double> anchor;
  std::vector<double> test;
};

/// Returns the geometric mean of test / anchor over all points and rounds. Needs at least one point, and equally many
/// rounds for each. The interval is Student's t on the logarithms. Points may have different ratios, so deviations are
/// taken from each point's own mean and then pooled.
[[nodiscard]] Ratio ratio_of_points(std::span<const PairedSpeeds> points);

/// A video to encode, as raw 4:2:0 that all sides read.
struct AbInput {
  std::string name;  ///< as the user named it
  std::string path;  ///< file with the raw frames
  VideoFormat format;
  std::int64_t frames = 0;
  bool full_range = false;  ///< see FrameSource
};

/// One configuration at one quantizer on one input.
struct AbPoint {
  std::size_t input = 0;
  std::size_t configuration = 0;
  std::string quantizer;          ///< empty if the configuration has none to vary
  std::string command;            ///< the command, without the folder of temporary files
  std::string backend;            ///< devices that c63enc has used
  nlohmann::ordered_json coding;  ///< c63enc: settings that the bytes depend on; other encoders: null

  std::uint64_t bytes = 0;
  bool is_c63 = false;       ///< the stream begins like one of c63, whoever has written it
  std::string digest;        ///< MD5 of the stream
  bool reproducible = true;  ///< every run wrote the same bytes
  double kilobits_per_s = 0;
  VideoQuality quality;

  std::vector<double> encode_s;   ///< of each measured run; c63enc: its own time without start-up; others: as process_s
  std::vector<double> process_s;  ///< of each measured run: the whole process
  std::vector<double> cpu_s;      ///< of each measured run: CPU time of the process
  double start_up_s = 0;          ///< c63enc only: time to open the devices

  nlohmann::ordered_json stages;             ///< c63enc: ms by stage in the last measured run; other encoders: null
  std::vector<std::uint64_t> frame_bits;     ///< of each frame, from c63enc or ffprobe; empty if neither reports it
  std::vector<std::uint8_t> frame_keys;      ///< for each of them: 1 for a key frame, else 0
  std::string why_no_bits;                   ///< the reason, if frame_bits is empty
};

/// The result of `c63cmp ab`. Its rows are objects of the JSON report; they name inputs and configurations by index.
struct AbResult {
  std::vector<AbInput> inputs;
  std::vector<Configuration> configurations;
  std::size_t anchor = 0;  ///< the configuration that the report compares with; readers can choose another
  int repeat = 1;
  bool stopped = false;  ///< a stop request came before all rounds were finished
  int warmup = 0;
  bool process_clock = false;  ///< speeds are those of whole processes, because not all sides are c63enc
  std::string created;         ///< time in UTC, as ISO 8601
  std::vector<std::string> devices;
  std::vector<AbPoint> points;
  /// Rows of what the report shows of each side, with a `frame` to begin with: of c63 a `stream` in base64 from frame `first`
  /// on; of other encoders the `picture` of that frame, packed(). Without configuration it is the input's picture.
  nlohmann::ordered_json frames = nlohmann::ordered_json::array();
  /// Rows of Bjøntegaard deltas of a configuration against another one, the `anchor`, by input and metric.
  nlohmann::ordered_json deltas = nlohmann::ordered_json::array();
  /// Rows of the speed of a configuration divided by that of another one, the `anchor`. Without `quantizer` of all
  /// points of the input together, without `input` of all inputs.
  nlohmann::ordered_json speeds = nlohmann::ordered_json::array();
  /// Rows that say whether two configurations have written the same bytes for one input at one quantizer. Without the
  /// same settings, different bytes are normal.
  nlohmann::ordered_json bytes = nlohmann::ordered_json::array();

  /// Returns the seconds that speeds are computed from.
  [[nodiscard]] const std::vector<double>& seconds(const AbPoint& point) const {
    return process_clock ? point.process_s : point.encode_s;
  }
  [[nodiscard]] Spread frames_per_s(const AbPoint& point) const;
};

/// Fills deltas, speeds and bytes from the points, for each pair of configurations. Pairs with the first configuration
/// as anchor come first.
void compare_points(AbResult& result);

/// Returns the table and the verdicts as text for standard output.
[[nodiscard]] std::string ab_text(const AbResult& result);
/// Returns CSV with one row per point (AbPoint): one input, side and quantizer.
[[nodiscard]] std::string ab_csv(const AbResult& result);
/// Returns everything except the frames as JSON, with settings and machine. Infinite and missing figures are null.
[[nodiscard]] nlohmann::ordered_json ab_json(const AbResult& result);

/// Throws Error (usage, C63-NO-CHARTS) unless this build contains Chart.js, which draws the plots.
void require_charts();

/// Returns one self-contained page: plots, the analyzer with the sides' frames, the table, and the CSV and JSON for download. It can be opened
/// from disk without a network. Needs Chart.js.
[[nodiscard]] std::string ab_html(const AbResult& result);

}  // namespace c63::tools
