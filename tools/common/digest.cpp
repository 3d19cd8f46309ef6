#include "common/digest.h"

#include <algorithm>
#include <vector>

#include "c63/error.h"
#include "io/input_file.h"

namespace c63::tools {

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
