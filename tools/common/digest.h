#pragma once

#include <nettle/md5.h>
#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "files/write_descriptor.h"

namespace c63::tools {

/// Returns lower-case hexadecimal digits.
[[nodiscard]] inline std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

/// A digest of data that comes in pieces, by functions of Nettle.
template <typename Context, auto kInit, auto kUpdate, auto kDigest, std::size_t kBytes>
class Digest {
 public:
  Digest() { kInit(&context_); }
  void add(std::span<const std::uint8_t> bytes) { kUpdate(&context_, bytes.size(), bytes.data()); }
  /// Returns the digest as hexadecimal digits, and starts a new one.
  [[nodiscard]] std::string finish() {
    std::array<std::uint8_t, kBytes> sum;
    kDigest(&context_, kBytes, sum.data());
    return hex(sum);
  }

 private:
  Context context_;
};

/// Equal to that of md5sum and of FFmpeg's md5 muxer. It tells frames and files apart. It gives no security.
using Md5 = Digest<md5_ctx, md5_init, md5_update, md5_digest, MD5_DIGEST_SIZE>;
using Sha256 = Digest<sha256_ctx, sha256_init, sha256_update, sha256_digest, SHA256_DIGEST_SIZE>;

/// Returns the digest of all bytes.
template <typename Digest>
[[nodiscard]] std::string digest_of(std::span<const std::uint8_t> bytes) {
  Digest sum;
  sum.add(bytes);
  return sum.finish();
}
[[nodiscard]] inline std::string md5(std::span<const std::uint8_t> bytes) { return digest_of<Md5>(bytes); }
[[nodiscard]] inline std::string md5(std::string_view text) { return digest_of<Md5>(bytes_of(text)); }
[[nodiscard]] inline std::string sha256(std::span<const std::uint8_t> bytes) { return digest_of<Sha256>(bytes); }
[[nodiscard]] inline std::string sha256(std::string_view text) { return digest_of<Sha256>(bytes_of(text)); }

/// Returns the SHA-256 of the first `bytes` bytes of a file, in hexadecimal digits. Throws Error (input,
/// C63-INPUT-SHRUNK) if the file is shorter.
[[nodiscard]] std::string sha256_of_file(const std::string& path, std::uint64_t bytes);

}  // namespace c63::tools
