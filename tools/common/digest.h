#pragma once

#include <nettle/md5.h>
#include <nettle/sha2.h>

#include <cstdint>
#include <span>
#include <string>

namespace c63::tools {

/// MD5, piece by piece, as md5sum and FFmpeg's md5 muxer have it. For telling frames and files apart; no protection.
class Md5 {
 public:
  Md5();
  void add(std::span<const std::uint8_t> bytes);
  /// In lower-case hexadecimal digits. Begins anew.
  [[nodiscard]] std::string finish();

 private:
  md5_ctx context_;
};

/// SHA-256, piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::uint8_t> bytes);
  /// In lower-case hexadecimal digits. Begins anew.
  [[nodiscard]] std::string finish();

 private:
  sha256_ctx context_;
};

[[nodiscard]] std::string md5(std::span<const std::uint8_t> bytes);

}  // namespace c63::tools
