#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "c63/encoder.h"

namespace c63 {

/// Encodes frames that the caller pushes, such as those of a camera or a renderer. It calls Encoder::encode() on a
/// separate thread, so the bytes are the same.
///
/// One thread calls push() and finish(). One thread, the same or another, calls poll() and wait(). Any thread may call
/// close().
class EncodeSession {
 public:
  /// Starts the encoder's threads. Throws what the constructors of Encoder throw.
  explicit EncodeSession(EncoderSettings settings);
  EncodeSession(EncoderSettings settings, std::vector<BackendFactory> devices);
  /// Uses everything that was set in `encoder`, such as a fallback or a planner.
  explicit EncodeSession(Encoder encoder);
  /// Calls close(). Coded frames that poll() or wait() did not return are lost.
  ~EncodeSession();
  EncodeSession(const EncodeSession&) = delete;
  EncodeSession& operator=(const EncodeSession&) = delete;

  /// Copies the next frame: frame_bytes(width, height) bytes, planes Y, U, V without gaps. Waits while the frames that
  /// are not yet encoded fill a quarter of Limits::max_memory, or 512 MiB if that is less. Throws Error (usage,
  /// C63-FRAME-SIZE) for another size, and (usage, C63-SESSION-FINISHED) after finish() or close(), also if close() is
  /// called meanwhile. If an error ended the encode, throws that error. If push() returns, the encoder has the frame.
  void push(std::span<const std::uint8_t> frame);
  /// Returns the next coded frame, in display order, or nothing if it is not ready. If an error ended the encode,
  /// returns the frames before the error first, then throws it.
  [[nodiscard]] std::optional<EncodedFrame> poll();
  /// Waits for the next coded frame and returns it. Returns nothing if the encode has ended and all coded frames were
  /// returned. An encode ends only after finish() or close(), or with an error. Throws that error as poll() does.
  [[nodiscard]] std::optional<EncodedFrame> wait();
  /// Ends the input. All pushed frames are encoded and can be polled.
  void finish();
  /// Ends the encode at once. Pushed frames that are not coded are dropped. Calls of push(), wait() and summary() stop
  /// waiting. Coded frames can still be polled.
  void close();
  /// Waits for the end of the encode and returns its summary. Call finish() or close() before. Frames can still be
  /// polled.
  [[nodiscard]] EncodeSummary summary();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
