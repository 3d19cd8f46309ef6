#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "c63/decoder.h"

namespace c63 {

/// A stream in memory that the caller owns.
class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = read_at(next_, bytes);
    next_ += count;
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min<std::uint64_t>(bytes.size(), bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, bytes.begin());
    return count;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::uint64_t next_ = 0;
};

}  // namespace c63
