#include "common/errors.h"

#include <fmt/format.h>

namespace c63::tools {
std::string error_line(const Error& error) {
  const ErrorPlace& place = error.place();
  std::string line;
  if (!place.file.empty()) line += place.file + ": ";
  if (place.frame) line += fmt::format("frame {}: ", *place.frame);
  if (!place.block.empty()) line += place.block + ": ";
  line += error.message();
  if (place.offset) line += fmt::format(" at byte {}", *place.offset);
  if (const auto* noted = dynamic_cast<const NotedError*>(&error)) line += "; " + noted->note();
  // This error says itself which options would do.
  line += fmt::format(" [{}]; {}", error.id(), error.id() == "C63-TARGET-LIMIT" ? "or ask for more" : end_by(error.kind()).advice);
  return one_line(std::move(line));
}

Error not_built_with_cuda() { return {ErrorKind::device, "C63-NO-CUDA", "this c63 was built without CUDA"}; }

}  // namespace c63::tools
