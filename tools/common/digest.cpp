#include "common/digest.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

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

}  // namespace c63::tools
