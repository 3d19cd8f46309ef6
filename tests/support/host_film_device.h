#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "c63/film_device.h"
#include "support/sources.h"

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

/// A pipe of frames that a GPU decodes.
class DecodedVideo final : public VideoSource {
 public:
  DecodedVideo(Bytes frames, int width, int height, std::shared_ptr<FilmDevice> device)
      : VideoSource(std::move(frames), width, height, Kind::pipe), device_(std::move(device)) {}

  [[nodiscard]] std::shared_ptr<FilmDevice> film_device() const override { return device_; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    Bytes samples(frame.size());
    if (!VideoSource::read(index, samples)) return false;
    if (device_->owns(frame.data())) ++reads_on_device_;
    device_->copy(frame, samples);
    return true;
  }
  [[nodiscard]] std::int64_t reads_on_device() const { return reads_on_device_; }

 private:
  std::shared_ptr<FilmDevice> device_;
  std::atomic<std::int64_t> reads_on_device_ = 0;
};

}  // namespace c63::test
