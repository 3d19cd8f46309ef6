#include "common/errors.h"

#include <fmt/format.h>

#include <utility>

namespace c63::tools {
namespace {

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
      return "choose another output, or check its permissions and the free space";
    case ErrorKind::memory:
      return "lower --lanes or --threads, or use a machine with more memory";
    case ErrorKind::device:
      return "c63enc --list-devices names the devices that can be used";
    case ErrorKind::comparison:
      return "this is the result of the comparison";
  }
  return "see --help";
}

}  // namespace

std::string error_line(const Error& error) {
  const ErrorPlace& place = error.place();
  std::string line;
  if (!place.file.empty()) line += place.file + ": ";
  if (place.frame) line += fmt::format("frame {}: ", *place.frame);
  if (!place.block.empty()) line += place.block + ": ";
  line += error.message();
  if (place.offset) line += fmt::format(" at byte {}", *place.offset);
  if (const auto* noted = dynamic_cast<const NotedError*>(&error)) line += "; " + noted->note();
  line += fmt::format(" [{}]; {}", error.id(), advice_for(error.kind()));
  return one_line(std::move(line));
}

Error not_built_with_cuda() { return {ErrorKind::device, "C63-NO-CUDA", "this c63 was built without CUDA"}; }

}  // namespace c63::tools
