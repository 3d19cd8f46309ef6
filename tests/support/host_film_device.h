#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>

#include "c63/film_device.h"

namespace c63::test {

/// A FilmDevice whose memory is the host's, and with which FFmpeg cannot decode.
class HostFilmDevice final : public FilmDevice {
 public:
  std::atomic<bool> was_tried = false;  ///< FFmpeg wanted to decode on it

  [[nodiscard]] CUctx_st* context() const override {
    const_cast<HostFilmDevice*>(this)->was_tried = true;
    return nullptr;
  }
  [[nodiscard]] CUstream_st* stream() const override { return nullptr; }
  [[nodiscard]] std::shared_ptr<std::uint8_t[]> allocate(std::size_t bytes) override {
    std::shared_ptr<std::uint8_t[]> memory(new std::uint8_t[bytes]);
    owned_.insert(memory.get());
    return memory;
  }
  [[nodiscard]] bool owns(const void* memory) const override { return owned_.contains(memory); }
  void copy(std::span<std::uint8_t> to, std::span<const std::uint8_t> from) override { std::ranges::copy(from, to.begin()); }
  void split(const Picture& /*picture*/, std::span<std::uint8_t> /*frame*/, bool /*luma_only*/) override {}

 private:
  std::set<const void*> owned_;
};

}  // namespace c63::test
