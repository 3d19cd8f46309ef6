#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "c63/decoder.h"
#include "codec/geometry.h"
#include "decode/stream_reader.h"

namespace c63 {

/// Decodes several frames of a stream at the same time and returns them in order. Only one thread may use it.
class FramePipeline {
 public:
  /// A decoded frame, or several repeat frames in a row.
  struct Output {
    FrameView view;          ///< the first of the frames
    std::int64_t count = 1;
    bool wanted = true;      ///< false: the frame is only decoded as a reference, and `view` may have no samples
  };

  virtual ~FramePipeline() = default;

  /// Prepares for pictures of one size. Call it once. Throws Error (limit) if the memory limit is too low.
  virtual void open(const Geometry& geometry) = 0;
  [[nodiscard]] virtual bool is_open() const = 0;

  /// Returns true if submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Submits the next frame of the stream, or a key frame further on. For several repeat frames in a row, `count` is
  /// their number. `wanted` is false if the caller needs the frame only as a reference.
  virtual void submit(StreamFrame&& coded, std::int64_t count, bool wanted) = 0;

  [[nodiscard]] virtual bool empty() const = 0;
  /// Returns true if the first submitted frame is decoded or failed.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// Waits for the first submitted frame and returns it, or throws its error. At least one frame must be submitted.
  [[nodiscard]] virtual const Output& front() = 0;
  /// Removes the frame that front() returned. Returns the memory of its coded bytes for reuse; may be empty.
  virtual std::vector<std::uint8_t> pop() = 0;

  /// Drops all submitted frames. The next submitted frame must be a key frame.
  virtual void clear() noexcept = 0;
};

/// Makes the pipeline that the settings ask for: the CPU's, or that of their device.
[[nodiscard]] std::unique_ptr<FramePipeline> make_frame_pipeline(const DecoderSettings& settings);

/// Returns what is known about a frame before it is decoded.
[[nodiscard]] FrameInfo info_of(const StreamFrame& coded);

}  // namespace c63
