#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "c63/frame_source.h"
#include "segments/segment_plan.h"

namespace c63::tools {

/// Opens the whole video. Called again if the source must be read from the start.
using OpenSource = std::function<std::unique_ptr<FrameSource>()>;

/// Reads the segments of one video, one after another. A seekable source is opened once. Any other source is opened
/// again if a segment begins before its next unread frame. Otherwise the frames between two segments are skipped.
class SegmentSource {
 public:
  explicit SegmentSource(OpenSource open) : open_(std::move(open)) {}

  /// Returns a source with the frames of a segment, numbered from 0. Only one such source may exist at a time, and it
  /// must not outlive this object.
  [[nodiscard]] std::unique_ptr<FrameSource> frames_of(const Segment& segment);

 private:
  OpenSource open_;
  std::shared_ptr<FrameSource> source_;
  std::int64_t next_ = 0;  ///< number of the next frame, if the source is not seekable
};

}  // namespace c63::tools
