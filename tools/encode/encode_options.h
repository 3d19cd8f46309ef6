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
#include "io/output_file.h"
#include "pipeline/prefilter_source.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// What c63enc's command line asks for.
struct EncodeOptions {
  SourceOptions source;
  std::optional<int> width;  ///< 0 is what the user said, nothing that he said nothing
  std::optional<int> height;
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;  ///< 0: all, as the course encoder has it
  std::optional<Prefilter> prefilter;
  std::string output;
  Durability durability = Durability::process;  ///< of all files written
  bool keep_partial = false;  ///< a part replaces an older file

  std::optional<std::pair<int, int>> segment;  ///< which one of how many; nothing: the whole video
  std::string segment_plan;

  EncoderSettings encoder;
  std::optional<int> search_range;  ///< nothing: what suits the preset
  TargetOptions target;
  BackendChoice backend;
  bool list_devices = false;

  bool compare_cpu = false;
  bool count_bits = false;
  bool timing = false;
  bool verify = false;
  int repeat = 1;
  int warmup = 0;
  std::string reconstruction;
  std::string prediction;
  std::string csv;
  std::string json;
  bool sidecar = false;  ///< the same is written beside the output (common/sidecar.h)
  std::string yuview;
  std::string trace;
};

void add_options(CLI::App& app, EncodeOptions& options);

/// What programs have in common that encode a whole file by these options: those that change what is coded, and on what. Without
/// the files beside the stream, and without --segment.
void add_coding_run_options(CLI::App& app, EncodeOptions& options);

/// Throws Error (usage) where input, output or the picture's size are missing or contradict each other; hands on what one
/// option says to the settings of several.
void settle_options(EncodeOptions& options, int threads);

/// Everything that changes the bytes of the whole stream but the input itself, as records of segments and --stats have it.
[[nodiscard]] nlohmann::ordered_json settings_of_record(const EncodeOptions& options);

}  // namespace c63::tools
