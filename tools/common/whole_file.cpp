#include "common/whole_file.h"

#include <algorithm>
#include <span>
#include <vector>

#include "c63/error.h"
#include "common/digest.h"
#include "io/input_file.h"

namespace c63::tools {

std::optional<std::string> text_of_file(const std::string& path, std::uint64_t most_bytes) {
  InputFile file(path);
  const auto bytes = file.size();
  if (!bytes || static_cast<std::uint64_t>(*bytes) > most_bytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(*bytes), '\0');
  text.resize(file.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

std::string sha256_of_file(const std::string& path, std::uint64_t bytes) {
  InputFile file(path);
  Sha256 sum;
  std::vector<std::uint8_t> buffer(1 << 20);
  while (bytes > 0) {
    const auto wanted =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size())));
    if (file.read(wanted) != wanted.size()) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the file became shorter while it was read",
                  {.file = path, .offset = file.position()});
    }
    sum.add(wanted);
    bytes -= wanted.size();
  }
  return sum.finish();
}

}  // namespace c63::tools
