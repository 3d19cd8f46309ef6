#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "c63/decoder.h"
#include "common/video_place.h"
#include "io/frame_writer.h"
#include "io/output_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63dec and c63pred.
struct DecodeOptions {
  std::string input;
  std::string output;
  Durability durability = Durability::process;  ///< of all files that are written
  bool keep_partial = false;                    ///< after a stop, the part replaces an older file
  std::int64_t max_frames = 0;                  ///< 0: all
  OutputFormat format = OutputFormat::automatic;
  std::optional<FrameRate> rate = {};  ///< the video's; a stream has none
  VideoPlace seek;                     ///< where to begin
  std::uint64_t picture_memory = 0;    ///< bytes of --max-memory that writing a picture may take
  bool md5 = false;
  bool statistics = false;
  bool list = false;
  std::string index;  ///< file to write it to
  std::string trace;
  std::string backend = "auto";
  std::optional<int> device = {};  ///< number of a GPU
  DecoderSettings decoder;
};

void add_options(CLI::App& app, DecodeOptions& options);

}  // namespace c63::tools
