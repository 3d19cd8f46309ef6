#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "c63/decoder.h"
#include "codec/geometry.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// Decodes the frames of a stream, several at a time, and gives them back in order. One thread uses it.
class FramePipeline {
 public:
  /// A decoded frame, or a run of its repeats.
  struct Output {
    FrameView view;          ///< of the first one
    std::int64_t count = 1;
    bool wanted = true;      ///< false if the view shows nothing
  };

  virtual ~FramePipeline() = default;

  /// Prepares for pictures of one size; called once. Throws Error (limit) if that takes more memory than is allowed.
  virtual void open(const Geometry& geometry) = 0;
  [[nodiscard]] virtual bool is_open() const = 0;

  /// Returns true if submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Submits the frame that follows the last one, or a key frame. `count` is more than 1 for a run of repeats.
  virtual void submit(StreamFrame&& coded, std::int64_t count, bool wanted) = 0;

  [[nodiscard]] virtual bool empty() const = 0;
  /// Returns true if the first submitted frame is decoded or failed.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// Waits for the first submitted frame and returns it. Throws its error. At least one frame must be submitted.
  [[nodiscard]] virtual const Output& front() = 0;
  /// Returns the memory of the taken frame's coded bytes for reuse, if it still exists.
  virtual std::vector<std::uint8_t> pop() = 0;

  /// Drops frames that were submitted and not taken. The next frame is a key frame.
  virtual void clear() noexcept = 0;
};

/// Makes the pipeline of the settings: the CPU's, or that of their device.
[[nodiscard]] std::unique_ptr<FramePipeline> make_frame_pipeline(const DecoderSettings& settings);

/// Returns what is known about a frame before it is decoded.
[[nodiscard]] FrameInfo info_of(const StreamFrame& coded);

}  // namespace c63
