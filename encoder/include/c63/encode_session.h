#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "c63/encoder.h"

namespace c63 {

/// Encodes frames that the caller pushes, such as those of a camera or a renderer. It runs as Encoder::encode() does, with the
/// same threads and the same bytes.
///
/// One thread calls push() and finish(). One thread, the same or another, calls poll() and wait(). Any thread may call close().
class EncodeSession {
 public:
  /// Starts the encoder's threads. Throws what the constructors of Encoder throw.
  explicit EncodeSession(EncoderSettings settings);
  EncodeSession(EncoderSettings settings, std::vector<BackendFactory> devices);
  /// Uses everything that was set in `encoder`: a joining device, a fallback, a planner.
  explicit EncodeSession(Encoder encoder);
  /// Calls close(). Frames that were not polled are lost.
  ~EncodeSession();
  EncodeSession(const EncodeSession&) = delete;
  EncodeSession& operator=(const EncodeSession&) = delete;

  /// Copies the next frame: frame_bytes(width, height) bytes, planes Y, U, V without gaps. Waits if the frames that are not yet
  /// encoded fill a quarter of Limits::max_memory, at most 512 MiB. Throws Error (usage, C63-FRAME-SIZE) for any other size,
  /// and (usage, C63-SESSION-FINISHED) after finish(). Throws the error that ended the encode, if there was one.
  void push(std::span<const std::uint8_t> frame);
  /// Returns the next coded frame if it is ready, in order. If an error ended the encode, throws it after the last frame before
  /// it.
  [[nodiscard]] std::optional<EncodedFrame> poll();
  /// Waits for the next coded frame. Returns nothing after the last one, which takes a finish() or close().
  [[nodiscard]] std::optional<EncodedFrame> wait();
  /// Ends the input. All pushed frames are encoded and can be polled.
  void finish();
  /// Ends the encode at once. Drops pushed frames that are not coded, including one whose push() waits. Waiting calls return.
  /// Coded frames can still be polled.
  void close();
  /// Waits for the end of the run and returns its summary. Call finish() or close() first. Frames can still be polled.
  [[nodiscard]] EncodeSummary summary();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
