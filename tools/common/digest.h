#pragma once

#include <nettle/md5.h>
#include <nettle/sha2.h>

#include <cstdint>
#include <span>
#include <string>

namespace c63::tools {

/// MD5, piece by piece, equal to that of md5sum and of FFmpeg's md5 muxer. It distinguishes frames and files; it does
/// not protect them.
class Md5 {
 public:
  Md5();
  void add(std::span<const std::uint8_t> bytes);
  /// Returns lower-case hexadecimal digits. Then begins again.
  [[nodiscard]] std::string finish();

 private:
  md5_ctx context_;
};

/// SHA-256, piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::uint8_t> bytes);
  /// Returns lower-case hexadecimal digits. Then begins again.
  [[nodiscard]] std::string finish();

 private:
  sha256_ctx context_;
};

[[nodiscard]] std::string md5(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
