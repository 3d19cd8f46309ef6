#include "mpi/segment_source.h"

#include "io/source_parts.h"

namespace c63::tools {

std::unique_ptr<FrameSource> SegmentSource::frames_of(const Segment& segment) {
  if (!source_ || (!source_->seekable() && next_ > segment.first)) {
    source_ = open_();
    next_ = 0;
  }
  return adapt(source_, {.first = segment.first, .count = segment.frames, .has_count = true, .position = &next_});
}

}  // namespace c63::tools
