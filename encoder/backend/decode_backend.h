#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "codec/geometry.h"

namespace c63 {

struct StreamFrame;  // bitstream/stream_frame.h

/// A decoded frame, or several repeat frames in a row.
struct DecodeOutput {
  FrameView view;          ///< the first of the frames
  std::int64_t count = 1;
  bool wanted = true;      ///< false: the frame is only decoded as a reference, and `view` may have no samples
};

/// Calls body(0) … body(count - 1), in parallel if possible.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

/// A device that decodes several frames of a stream at the same time and returns them in order: the CPU, or a GPU. It
/// decodes one stream at a time and is used by one thread. Any call except clear() may throw Error (device).
class DecodeBackend {
 public:
  virtual ~DecodeBackend() = default;

  /// The device's name for people: "cuda:0 NVIDIA H200 (sm_90)".
  [[nodiscard]] virtual const std::string& description() const = 0;

  /// Prepares for a stream with pictures of one size. The next frame must be a key frame. Coded frames, host memory and
  /// device memory together stay within `max_memory` bytes. Throws Error (limit) if not even one frame fits.
  virtual void open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) = 0;

  /// Returns true if submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Submits the next frame of the stream, or a key frame further on. For several repeat frames in a row, `count` is
  /// their number. `wanted` is false if the caller needs the frame only as a reference.
  virtual void submit(StreamFrame&& coded, std::int64_t count, bool wanted) = 0;

  /// Returns true if no frame is submitted.
  [[nodiscard]] virtual bool empty() const = 0;
  /// Returns true if the first submitted frame is decoded or failed. At least one frame must be submitted.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// Waits for the first submitted frame and returns it, which is valid until pop(). Throws the frame's error, which is
  /// the same on every device; then only clear() may be called. At least one frame must be submitted.
  [[nodiscard]] virtual const DecodeOutput& front() = 0;
  /// Removes the frame that front() returned. Returns the memory of its coded bytes for reuse; may be empty.
  virtual std::vector<std::uint8_t> pop() = 0;

  /// Drops all submitted frames. The next submitted frame must be a key frame.
  virtual void clear() noexcept = 0;
};

}  // namespace c63
