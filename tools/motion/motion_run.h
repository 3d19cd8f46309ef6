#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "c63/fine_motion.h"
#include "c63/frame_source.h"
#include "common/command_line.h"
#include "motion/overlay.h"
#include "motion/yuview.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63mv.
struct MotionOptions {
  std::string input;
  std::string output;
  std::string format;             ///< empty: only the summary
  std::string overlay = "recon";  ///< the picture under the drawing: recon or pred
  std::vector<std::string> types = {"mv", "sad", "bits"};
  std::int64_t frame = -1;  ///< number of the frame of a picture; -1: the first frame with vectors
  std::int64_t first_frame = 0;
  std::int64_t max_frames = 0;    ///< 0: all frames
  int scale = 0;                  ///< pixels per sample; 0: the program chooses
  std::string source;
  std::string beside;  ///< a second stream, which a page shows next to the first
  std::string truth;
  bool search = false;            ///< search the pictures of a c63 stream, too; films are always searched
  SourceOptions film;             ///< how to open a film; its path and limits are not used
  int range = 16;
  int distance = 1;
  int zero_bias = 0;
  int fraction = 1;
  int block = 8;
  int smooth = 0;
  std::optional<int> check;  ///< quarters of a sample
  bool second = false;
  bool quarters = false;
  bool codec_vectors = false;
  std::string codec_list;         ///< file for all vectors of the film's codec
  std::string hwaccel = "none";   ///< what decodes a film: none (the CPU), or cuda
  std::string backend = "auto";
  std::optional<int> device;
  Limits limits;
  bool keep_partial = false;  ///< after a stop, the written part replaces an older file
  Durability durability = Durability::process;  ///< of all files that this program writes

  /// Returns true if this kind of value is to be shown: mv, sad or bits.
  [[nodiscard]] bool wants(const std::string& type) const { return std::ranges::find(types, type) != types.end(); }
  /// Returns the settings of the search of true motion, if an option asks for it.
  [[nodiscard]] std::optional<FineMotionSettings> fine() const;
  /// Returns true if the output shows a film's pictures, not only their motion.
  [[nodiscard]] bool shows_pictures() const { return format == "png" || format == "html"; }
};

void add_options(CLI::App& app, MotionOptions& options);

/// Reads the stream or film and writes the requested outputs. Returns the exit code. Throws Error.
[[nodiscard]] int run_motion(const Session& session, const MotionOptions& options);

}  // namespace c63::tools
