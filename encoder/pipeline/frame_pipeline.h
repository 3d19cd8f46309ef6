#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "c63/decoder.h"
#include "codec/geometry.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// Decodes the frames of a stream, several at a time, and gives them back in order. For one thread.
class FramePipeline {
 public:
  /// A frame as it comes out, or a run of repeats of one.
  struct Output {
    FrameView view;          ///< of the first one
    std::int64_t count = 1;
    bool wanted = true;      ///< false: the view shows nothing
  };

  virtual ~FramePipeline() = default;

  /// Gets ready for pictures of one size, once. Throws Error (limit) where that needs more memory than is allowed.
  virtual void open(const Geometry& geometry) = 0;
  [[nodiscard]] virtual bool is_open() const = 0;

  /// Whether submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// `coded` is the frame that follows the last one submitted, or a key frame; `count` is more than one for a run of
  /// repeats.
  virtual void submit(StreamFrame&& coded, std::int64_t count, bool wanted) = 0;

  [[nodiscard]] virtual bool empty() const = 0;
  /// Whether the first frame is decoded, or has a fault.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// The first frame of those submitted, which are not empty. Waits for it, and throws its fault.
  [[nodiscard]] virtual const Output& front() = 0;
  /// Returns the memory of its coded bytes, if it is still there, to be used again.
  virtual std::vector<std::uint8_t> pop() = 0;

  /// Drops what was submitted and not taken. A key frame is next.
  virtual void clear() noexcept = 0;
};

/// The pipeline that settings ask for: the CPU's, or that of their device.
[[nodiscard]] std::unique_ptr<FramePipeline> make_frame_pipeline(const DecoderSettings& settings);

/// What is known of a frame before it is decoded.
[[nodiscard]] FrameInfo info_of(const StreamFrame& coded);

}  // namespace c63
