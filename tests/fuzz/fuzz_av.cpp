// Gives any bytes to FFmpeg as a video. The result must be frames or one Error. Each input says whether damaged packets
// are skipped.

#include <filesystem>

#include "c63/media.h"
#include "io/media_module.h"
#include "source_outcome.h"

namespace {

/// Returns the folder of the FFmpeg module in the build. In a bundle that folder does not exist: then the result is
/// empty, which means the folder of the program.
std::string module_folder() { return std::filesystem::exists(C63_MODULE_FOLDER) ? C63_MODULE_FOLDER : ""; }

}  // namespace

// Loads the module before the first input. Otherwise libFuzzer would not see which of its code an input reaches.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  c63::keep_media_messages();
  (void)c63::ffmpeg_module(module_folder());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return -1;
  c63::SourceOptions options{.format = c63::SourceFormat::av};
  options.limits.max_pixels = 256 * 256;
  options.limits.max_memory = 64 << 20;
  options.tolerant = (data[0] & 1) != 0;
  const auto kind = (data[0] & 2) != 0 ? c63::fuzz::NamedBytes::Kind::pipe : c63::fuzz::NamedBytes::Kind::file;
  const c63::fuzz::NamedBytes file({data + 1, size - 1}, kind);
  options.path = file.name();
  const auto outcome = c63::fuzz::read_source(options, 16);
  for (const auto& frame : outcome.frames) {
    c63::fuzz::require(frame.size() == c63::frame_bytes(outcome.format.width, outcome.format.height));
  }
  return 0;
}
