#include "common/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "c63/error.h"
#include "io/input_file.h"

namespace c63::tools {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

}  // namespace

Md5::Md5() { md5_init(&context_); }
void Md5::add(std::span<const std::uint8_t> bytes) { md5_update(&context_, bytes.size(), bytes.data()); }
std::string Md5::finish() {
  std::array<std::uint8_t, MD5_DIGEST_SIZE> sum;
  md5_digest(&context_, sum.size(), sum.data());
  return hex(sum);
}

Sha256::Sha256() { sha256_init(&context_); }
void Sha256::add(std::span<const std::uint8_t> bytes) { sha256_update(&context_, bytes.size(), bytes.data()); }
std::string Sha256::finish() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> sum;
  sha256_digest(&context_, sum.size(), sum.data());
  return hex(sum);
}

std::string md5(std::span<const std::uint8_t> bytes) {
  Md5 sum;
  sum.add(bytes);
  return sum.finish();
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
