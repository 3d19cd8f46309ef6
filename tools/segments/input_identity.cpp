#include "segments/input_identity.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "c63/error.h"
#include "common/digest.h"
#include "io/descriptor.h"
#include "io/input_file.h"

namespace c63::tools {

bool same_content(const InputIdentity& a, const InputIdentity& b) {
  return a.bytes == b.bytes && a.sample_sha256 == b.sample_sha256;
}

InputIdentity identify_input(const std::string& path) {
  constexpr std::int64_t kPieces = 64;
  constexpr std::int64_t kPiece = 4096;
  const InputFile file(path);
  if (path == "-" || !file.size()) {
    throw Error(ErrorKind::usage, "C63-SEGMENT-INPUT",
                "to encode segments, the input must be a file, not a pipe or device", {.file = file.name()});
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw system_fault(ErrorKind::input, "C63-INPUT-OPEN", "cannot open for reading", errno, {.file = path});
  }
  InputIdentity identity;
  identity.bytes = static_cast<std::uint64_t>(*file.size());
  identity.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  Sha256 sum;
  const std::int64_t last = std::max<std::int64_t>(0, *file.size() - kPiece);
  for (std::int64_t i = 0; i < kPieces; ++i) {
    std::array<std::uint8_t, kPiece> piece{};
    // Dividing first avoids an overflow for files of more than 2^57 bytes.
    const std::int64_t at = last / (kPieces - 1) * i + last % (kPieces - 1) * i / (kPieces - 1);
    sum.add(std::span(piece).first(file.read_at(at, piece)));
  }
  identity.sample_sha256 = sum.finish();
  return identity;
}

}  // namespace c63::tools
