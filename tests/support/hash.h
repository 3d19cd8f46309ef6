#pragma once

#include <nettle/md5.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha2.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace c63::test {
namespace detail {

inline std::string hash(const nettle_hash& method, const void* bytes, std::size_t count) {
  std::vector<std::uint64_t> context(method.context_size / sizeof(std::uint64_t) + 1);
  std::vector<std::uint8_t> sum(method.digest_size);
  method.init(context.data());
  method.update(context.data(), count, static_cast<const std::uint8_t*>(bytes));
  method.digest(context.data(), sum.size(), sum.data());
  std::string hex;
  for (const std::uint8_t byte : sum) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  return hex;
}

}  // namespace detail

/// Returns the MD5 as 32 hexadecimal digits in lower case.
inline std::string md5(std::span<const std::uint8_t> bytes) {
  return detail::hash(nettle_md5, bytes.data(), bytes.size());
}
inline std::string sha256(std::span<const std::uint8_t> bytes) {
  return detail::hash(nettle_sha256, bytes.data(), bytes.size());
}
inline std::string sha256(std::string_view bytes) { return detail::hash(nettle_sha256, bytes.data(), bytes.size()); }

}  // namespace c63::test
