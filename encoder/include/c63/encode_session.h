#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "c63/encoder.h"

namespace c63 {

/// Encodes frames that somebody has, one after another: a camera, a renderer, a program with a loop of its own. The same run
/// as Encoder::encode(), with its threads, driven from outside; the same bytes.
///
/// push() and finish() are called by one thread, poll() and wait() by the same or another one, close() by any.
class EncodeSession {
 public:
  /// Starts the encoder's threads. Throws what the Encoder does.
  explicit EncodeSession(EncoderSettings settings);
  EncodeSession(EncoderSettings settings, std::vector<BackendFactory> devices);
  /// With all that the encoder was given: devices that join or that it falls back to, a planner.
  explicit EncodeSession(Encoder encoder);
  /// As close(): frames that were not polled are lost.
  ~EncodeSession();
  EncodeSession(const EncodeSession&) = delete;
  EncodeSession& operator=(const EncodeSession&) = delete;

  /// Gives the next frame: frame_bytes(width, height) bytes, Y, U, V without gaps, which are copied. Waits where the encoder is
  /// behind by as many frames as may wait in memory (a quarter of Limits::max_memory, at most 512 MiB). Throws Error (usage,
  /// C63-FRAME-SIZE) for other sizes, (usage, C63-SESSION-FINISHED) after finish(), and what ended the encode, if that was an
  /// error.
  void push(std::span<const std::uint8_t> frame);
  /// The next coded frame, in order, if it is there. Throws what ended the encode when all frames before it have been handed
  /// out.
  [[nodiscard]] std::optional<EncodedFrame> poll();
  /// The same, waiting for it; nothing when all frames have been handed out, which takes a finish().
  [[nodiscard]] std::optional<EncodedFrame> wait();
  /// There are no more frames. What was pushed is encoded and can be polled.
  void finish();
  /// Ends the encode at once: pushed frames that are not coded are dropped. Calls that wait return; a frame whose push() waits is
  /// dropped. Frames that are coded can still be polled.
  void close();
  /// What the run was like; waits for its end, and takes a finish() or close() before. Frames that were not polled can still be.
  [[nodiscard]] EncodeSummary summary();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
