#pragma once

#include <nettle/md5.h>
#include <nettle/sha2.h>

#include <cstdint>
#include <span>
#include <string>

namespace c63::tools {

/// MD5 of data that comes in pieces, equal to that of md5sum and of FFmpeg's md5 muxer. It tells frames and files
/// apart. It gives no security.
class Md5 {
 public:
  Md5();
  void add(std::span<const std::uint8_t> bytes);
  /// Returns the digest as lower-case hexadecimal digits, and starts a new one.
  [[nodiscard]] std::string finish();

 private:
  md5_ctx context_;
};

/// SHA-256 of data that comes in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::uint8_t> bytes);
  /// Returns the digest as lower-case hexadecimal digits, and starts a new one.
  [[nodiscard]] std::string finish();

 private:
  sha256_ctx context_;
};

[[nodiscard]] std::string md5(std::span<const std::uint8_t> bytes);

/// Returns the SHA-256 of the first `bytes` bytes of a file, in hexadecimal digits. Throws Error (input,
/// C63-INPUT-SHRUNK) if the file is shorter.
[[nodiscard]] std::string sha256_of_file(const std::string& path, std::uint64_t bytes);

}  // namespace c63::tools
