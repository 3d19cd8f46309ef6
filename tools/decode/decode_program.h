#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "c63/decoder.h"
#include "c63/error.h"
#include "common/command_line.h"
#include "common/values.h"
#include "files/frame_writer.h"
#include "files/output_file.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The command line of c63dec and c63pred.
struct DecodeOptions {
  std::string input;
  std::string output;
  Durability durability = Durability::process;  ///< of all files that this program writes
  bool keep_partial = false;                    ///< after a stop, the written part replaces an older file
  std::int64_t max_frames = 0;                  ///< 0: all frames
  OutputFormat format = OutputFormat::automatic;
  std::optional<FrameRate> rate = {};  ///< frame rate of the video; the stream has none
  VideoPlace seek;                     ///< the first frame to decode
  std::uint64_t picture_memory = 0;    ///< part of --max-memory, in bytes, for writing a picture
  bool md5 = false;
  bool statistics = false;
  bool list = false;
  std::string index;  ///< file for the list of frames (--index)
  std::string trace;
  std::string backend = "auto";
  std::optional<int> device = {};  ///< number of the GPU that must be used
  DecoderSettings decoder;
};

void add_options(CLI::App& app, DecodeOptions& options);

/// Prints the frames of the input that --seek, --frames and --key-frames choose (--list), and writes all frames to the file of
/// --index. If the list ends with an error, the
/// frames before it are listed first, then the error is thrown. Throws Error (input, C63-NOT-SEEKABLE) for a pipe.
void list_frames(const DecodeOptions& options, const ErrorPlace& place);

/// The samples of a decoded frame that a program writes.
enum class DecodeOutput { picture, prediction };

/// Does what the options of c63dec or c63pred say. Returns the exit code. Throws Error.
[[nodiscard]] int run_decode(const Session& session, DecodeOptions options, DecodeOutput what);

}  // namespace c63::tools
