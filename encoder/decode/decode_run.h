#pragma once

#include <memory>
#include <stop_token>

#include "backend/decode_backend.h"
#include "c63/decoder.h"
#include "decode/stream_reader.h"

namespace c63 {

/// The device that decodes one stream. It is opened when the size of the pictures is known.
class StreamDevice {
 public:
  /// Takes the device of the settings, or else the CPU. Throws Error (device) if the settings ask a device to keep
  /// predictions or vectors, which only the CPU can keep.
  explicit StreamDevice(const DecoderSettings& settings);
  ~StreamDevice() { backend_->clear(); }
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;

  [[nodiscard]] DecodeBackend& operator*() const { return *backend_; }
  [[nodiscard]] DecodeBackend* operator->() const { return backend_.get(); }
  /// Opens the device at the first call.
  void open(const Geometry& geometry);
  [[nodiscard]] bool has_room() const { return !is_open_ || backend_->has_room(); }

 private:
  const std::uint64_t max_memory_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<DecodeBackend> backend_;
  bool is_open_ = false;
};

/// Returns a copy of the frame that a view shows.
[[nodiscard]] DecodedFrame copy_of(const FrameView& view);

/// Decodes the stream of `reader`. `sink` receives the frames from settings.first_frame on, at most
/// settings.max_frames. With settings.key_frames_only, it receives only the key frames among them. If the stream has an
/// error, throws it after `sink` has received all frames before it.
DecodeSummary decode_run(StreamReader& reader, StreamDevice& device, const DecoderSettings& settings,
                         const Decoder::ViewSink& sink, const std::stop_token& stop);

}  // namespace c63
