#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace c63::tools {

using Md5Digest = std::array<std::uint8_t, 16>;

/// MD5 (RFC 1321), piece by piece. For telling files apart, as md5sum and FFmpeg's md5 muxer do; no protection.
class Md5 {
 public:
  void add(std::span<const std::uint8_t> bytes);
  /// Ends the message; nothing may be added after it.
  [[nodiscard]] Md5Digest finish();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 4> state_ = {0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t length_ = 0;
};

[[nodiscard]] Md5Digest md5(std::span<const std::uint8_t> bytes);
/// As 32 hexadecimal digits.
[[nodiscard]] std::string hex(const Md5Digest& digest);

}  // namespace c63::tools
