#include "mpi/segment_source.h"

#include <utility>

namespace c63::tools {

class SegmentSource::Part final : public FrameSource {
 public:
  Part(SegmentSource& owner, const Segment& segment) : owner_(owner), source_(*owner.source_), segment_(segment) {}

  VideoFormat format() const override { return source_.format(); }
  std::optional<std::int64_t> frame_count() const override { return segment_.frames; }
  bool seekable() const override { return source_.seekable(); }
  bool live() const override { return source_.live(); }
  bool concurrent() const override { return source_.concurrent(); }
  bool in_host_memory() const override { return source_.in_host_memory(); }
  void stop_waiting() override { source_.stop_waiting(); }
  std::span<const std::uint8_t> in_place(std::int64_t index) override {
    if (index < 0 || index >= segment_.frames) return {};
    return source_.in_place(segment_.first + index);
  }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index < 0 || index >= segment_.frames) return false;
    if (source_.seekable()) return source_.read(segment_.first + index, frame);
    if (owner_.next_ < segment_.first) owner_.next_ = source_.skip_towards(owner_.next_, segment_.first);
    for (; owner_.next_ <= segment_.first + index; ++owner_.next_) {
      if (!source_.read(owner_.next_, frame)) return false;
    }
    return true;
  }

 private:
  SegmentSource& owner_;
  FrameSource& source_;
  Segment segment_;
};

std::unique_ptr<FrameSource> SegmentSource::frames_of(const Segment& segment) {
  if (!source_ || (!source_->seekable() && next_ > segment.first)) {
    source_ = open_();
    next_ = 0;
  }
  return std::make_unique<Part>(*this, segment);
}

}  // namespace c63::tools
