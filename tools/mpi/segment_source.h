#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "c63/frame_source.h"
#include "pipeline/segment_plan.h"

namespace c63::tools {

/// Opens the whole video.
using OpenSource = std::function<std::unique_ptr<FrameSource>()>;

/// The segments of one video, one after another. A source that can seek is opened once. Any other is read on while
/// segments come in order, and frames between them are dropped.
class SegmentSource {
 public:
  explicit SegmentSource(OpenSource open) : open_(std::move(open)) {}

  /// Returns the frames of a segment, from 0. Only one such object may be in use, and this object must outlive it.
  [[nodiscard]] std::unique_ptr<FrameSource> frames_of(const Segment& segment);

 private:
  class Part;

  OpenSource open_;
  std::unique_ptr<FrameSource> source_;
  std::int64_t next_ = 0;  ///< the next frame of a source that cannot seek
};

}  // namespace c63::tools
