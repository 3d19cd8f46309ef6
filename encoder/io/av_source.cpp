#include "c63/error.h"
#include "io/source_parts.h"

namespace c63 {

std::unique_ptr<FrameSource> open_av_source(std::unique_ptr<InputFile> file, const SourceOptions&) {
  throw Error(ErrorKind::usage, "C63-NO-FFMPEG",
              "neither raw video nor Y4M, and this build lacks FFmpeg: convert it with ffmpeg -i IN -pix_fmt yuv420p "
              "OUT.y4m, or build with FFmpeg's libraries",
              {.file = file->name()});
}

}  // namespace c63
