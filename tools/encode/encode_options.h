#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "c63/settings.h"
#include "c63/frame_source.h"
#include "common/backends.h"
#include "encode/encode_target.h"
#include "files/output_file.h"
#include "common/prefilter_source.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63enc.
struct EncodeOptions {
  SourceOptions source;
  std::optional<int> width;  ///< nothing: not given; 0: given as 0
  std::optional<int> height;
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;  ///< 0: all frames, as in the course encoder
  std::optional<Prefilter> prefilter;
  std::string output;
  std::string second_name;  ///< the output, named without -o
  Durability durability = Durability::process;  ///< of all files that this program writes
  bool keep_partial = false;  ///< after a stop, the written part replaces an older file

  std::optional<std::pair<int, int>> segment;  ///< number of the segment, and of how many; nothing: the whole video
  std::string segment_plan;

  EncoderSettings encoder;
  std::string search_file;  ///< a search for the CPU, by --me; empty: a method of the table
  std::optional<int> range;  ///< the search range; nothing: that of the preset
  TargetOptions target;
  BackendChoice backend;
  bool list_devices = false;
  std::string hwaccel = "none";  ///< what decodes a film: none (the CPU), or cuda

  bool compare_cpu = false;
  bool count_bits = false;
  bool timing = false;
  bool verify = false;
  std::string reconstruction;
  std::string prediction;
  std::string csv;
  std::string json;
  std::string yuview;
  std::string trace;
};

void add_options(CLI::App& app, EncodeOptions& options);

/// Adds the options that change what is coded, and on which device. All programs that encode a whole file have them.
/// Not included: --segment, and options for files other than the stream.
void add_coding_run_options(CLI::App& app, EncodeOptions& options);

/// Applies options that affect several settings. Throws Error (usage) if input, output or the picture's size are
/// missing or contradict each other.
void settle_options(EncodeOptions& options, int threads);

/// Returns all options that change the bytes of the whole stream, for the records of segments and --stats. The input is
/// not included.
[[nodiscard]] nlohmann::ordered_json settings_of_record(const EncodeOptions& options);

}  // namespace c63::tools
