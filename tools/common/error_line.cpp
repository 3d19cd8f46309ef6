#include "common/error_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/exit_code.h"

namespace c63::tools {
namespace {

// Advice by error id. An entry holds for all ids that begin with its text. The first entry that matches is used.
constexpr std::array kAdviceById = {
    std::pair{std::string_view("C63-USAGE"), std::string_view("see --help")},
    std::pair{std::string_view("C63-SIZE-UNKNOWN"), std::string_view("see --help")},
    std::pair{std::string_view("C63-MAX-PIXELS"), std::string_view("raise --max-pixels if the size is right")},
    std::pair{std::string_view("C63-MAX-MEMORY"), std::string_view("raise --max-memory or lower --lanes")},
    std::pair{std::string_view("C63-CMP-SIZE"), std::string_view("compare videos of the same size")},
    std::pair{std::string_view("C63-CMP-COUNT"), std::string_view("cut both to the same frames with --seek and -f")},
    std::pair{std::string_view("C63-CMP-"), std::string_view("this is the result of the comparison")},
    std::pair{std::string_view("C63-RACE-"), std::string_view("docs/race.md explains how files are judged")},
    std::pair{std::string_view("C63-SEARCH-"), std::string_view("see c63/motion_kernel.h and docs/race.md")},
    std::pair{std::string_view("C63-KERNEL-"), std::string_view("see c63/motion_kernel.h and docs/race.md")},
    std::pair{std::string_view("C63-NO-NVRTC"), std::string_view("see docs/race.md")},
    std::pair{std::string_view("C63-NO-COMPILER"), std::string_view("install a compiler, or give a .so file")},
    std::pair{std::string_view("C63-AV-REFERENCES"), std::string_view("give the video file itself")},
    std::pair{std::string_view("C63-AV-FORMAT"),
              std::string_view("convert it with ffmpeg -i IN -pix_fmt yuv420p OUT.y4m")},
    std::pair{std::string_view("C63-NO-FFMPEG"),
              std::string_view("or convert the video with ffmpeg -i IN -pix_fmt yuv420p OUT.y4m")},
    std::pair{std::string_view("C63-OPEN-FILES"), std::string_view("raise the limit of open files (ulimit -n)")},
    std::pair{std::string_view("C63-THREADS"),
              std::string_view("lower --threads, or raise the limit of processes (ulimit -u)")},
    std::pair{std::string_view("C63-STANDARD-STREAMS"), std::string_view("leave them open, or redirect them")},
    std::pair{std::string_view("C63-STATS"), std::string_view("name another file, or remove this one")},
    std::pair{std::string_view("C63-SEGMENT-PLAN"), std::string_view("name another file, or remove this one")},
    std::pair{std::string_view("C63-SEGMENT-INPUT"), std::string_view("write the video to a file first")},
    std::pair{std::string_view("C63-JOIN-MISSING"), std::string_view("encode the missing segments, or name them too")},
    std::pair{std::string_view("C63-JOIN-"),
              std::string_view("encode all segments of one input with the same options")},
    std::pair{std::string_view("C63-SEGMENT-NO-RECORD"),
              std::string_view("encode the segment again with the same command")},
    std::pair{std::string_view("C63-SEGMENT-RECORD"),
              std::string_view("encode the segment again with the same command")},
    std::pair{std::string_view("C63-SEGMENT-DAMAGED"),
              std::string_view("encode the segment again with the same command")},
    std::pair{std::string_view("C63-NO-CUDA"), std::string_view("install a CUDA toolkit and build c63 again")},
    std::pair{std::string_view("C63-TERMINAL"), std::string_view("name a file, or redirect standard output")},
    std::pair{std::string_view("C63-OUTPUT-EXISTS"), std::string_view("choose another output name, or give -y")},
    std::pair{std::string_view("C63-OUTPUT-NAME"), std::string_view("choose another output name")},
    std::pair{std::string_view("C63-SAME-FILE"), std::string_view("choose another output name")},
};

std::string_view advice_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal:
      return "please report it with the command line and the input";
    case ErrorKind::usage:
      return "see --help";
    case ErrorKind::input:
      return "check the input file";
    case ErrorKind::limit:
      return "raise the limit or use a smaller input";
    case ErrorKind::output:
      return "check the path, its permissions and the free space";
    case ErrorKind::memory:
      return "lower --lanes or --threads, or use a machine with more memory";
    case ErrorKind::device:
      return "use --backend cpu, or see --list-devices";
    case ErrorKind::comparison:
      return "please report it with the command line and the input";
  }
  return "see --help";
}

}  // namespace

std::string_view advice(const Error& error) {
  const auto found = std::find_if(kAdviceById.begin(), kAdviceById.end(),
                                  [&](const auto& entry) { return error.id().starts_with(entry.first); });
  return found != kAdviceById.end() ? found->second : advice_for(error.kind());
}

std::string error_line(const Error& error) {
  const ErrorPlace& place = error.place();
  std::string line;
  if (!place.file.empty()) line += place.file + ": ";
  if (place.frame) line += fmt::format("frame {}: ", *place.frame);
  if (!place.block.empty()) line += place.block + ": ";
  line += error.message();
  if (place.offset) line += fmt::format(" at byte {}", *place.offset);
  if (const auto* noted = dynamic_cast<const NotedError*>(&error)) line += "; " + noted->note();
  line += fmt::format(" [{}]; {}", error.id(), advice(error));
  return one_line(std::move(line));
}

}  // namespace c63::tools
