#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "c63/bd_rate.h"
#include "c63/picture.h"
#include "compare/ab_plan.h"
#include "compare/ab_statistics.h"
#include "compare/metrics.h"

namespace c63::tools {

/// A video to encode, as all sides get it: raw 4:2:0.
struct AbInput {
  std::string name;  ///< as the user named it
  std::string path;  ///< of the raw frames
  VideoFormat format;
  std::int64_t frames = 0;
};

/// One encoder at one quantizer on one input.
struct AbPoint {
  std::size_t input = 0;
  std::size_t configuration = 0;
  std::string quantizer;          ///< empty if there is none to vary
  std::string command;            ///< the command, without the folder of temporary files
  std::string backend;            ///< the devices that c63enc reports
  nlohmann::ordered_json coding;  ///< c63enc: the settings that the bytes depend on; others: null

  std::uint64_t bytes = 0;
  std::string digest;        ///< MD5 of the result
  bool reproducible = true;  ///< every run wrote the same bytes
  double kilobits_per_s = 0;
  VideoQuality quality;

  std::vector<double> encode_s;   ///< of each measured run: c63enc's own time, without start-up; others: as process_s
  std::vector<double> process_s;  ///< of each measured run: the whole process
  std::vector<double> cpu_s;      ///< of each measured run: processor time of the process
  double start_up_s = 0;          ///< c63enc: opening the backend

  nlohmann::ordered_json stages;             ///< c63enc: milliseconds by stage, of the last measured run; others: null
  std::vector<std::uint64_t> frame_bits;     ///< of each frame, from c63enc or ffprobe; empty if neither reports it
  std::vector<std::uint8_t> frame_keys;      ///< then: 1 for key frames
  std::string why_no_bits;                   ///< otherwise: the reason
};

/// A picture of a configuration's result.
struct AbPicture {
  std::size_t input = 0;
  std::optional<std::size_t> configuration;  ///< empty: the input itself
  std::string quantizer;
  std::int64_t frame = 0;
  std::string title;
  std::string stored;  ///< "PNG", or "JPEG" for pictures that are only to look at
  std::string data_uri;
};

/// One curve against that of the anchor, which is another configuration.
struct AbDelta {
  std::size_t anchor = 0;
  std::size_t input = 0;
  std::size_t configuration = 0;
  std::string metric;  ///< "psnr_y", "psnr_all", "ssim_y"
  BdResult result;
};

/// Speed against that of the anchor.
struct AbSpeed {
  std::size_t anchor = 0;
  std::size_t configuration = 0;
  std::optional<std::size_t> input;      ///< empty: all inputs and points together
  std::optional<std::string> quantizer;  ///< empty: all points of the input together
  Ratio ratio;
};

/// Whether two configurations wrote the same bytes at the same quantizer.
struct AbBytes {
  std::size_t anchor = 0;
  std::size_t input = 0;
  std::size_t configuration = 0;
  std::string quantizer;
  bool same_settings = false;  ///< different bytes matter only if this is true
  bool identical = false;
};

struct AbResult {
  std::vector<AbInput> inputs;
  std::vector<Configuration> configurations;
  std::size_t anchor = 0;  ///< the configuration that others are compared with, until the reader chooses another one
  int repeat = 1;
  bool stopped = false;  ///< before all rounds were finished
  int warmup = 0;
  bool process_clock = false;  ///< speeds are of whole processes, because not all sides are c63enc
  std::string created;         ///< UTC, ISO 8601
  std::vector<std::string> devices;
  std::vector<AbPoint> points;
  std::vector<AbPicture> pictures;
  std::vector<AbDelta> deltas;
  std::vector<AbSpeed> speeds;
  std::vector<AbBytes> bytes;

  /// Seconds by the clock of the speeds.
  [[nodiscard]] const std::vector<double>& seconds(const AbPoint& point) const {
    return process_clock ? point.process_s : point.encode_s;
  }
  [[nodiscard]] Spread frames_per_s(const AbPoint& point) const;
};

/// Fills deltas, speeds and bytes from the points, for every pair of configurations. Pairs with the first one come
/// first.
void compare_points(AbResult& result);

}  // namespace c63::tools
