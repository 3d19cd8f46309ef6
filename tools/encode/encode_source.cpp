#include "encode/encode_source.h"

#include <utility>

#include "c63/error.h"
#include "common/video_input.h"

namespace c63::tools {
namespace {

/// A source whose read errors end the video normally if a stop was requested. The signal may also have ended the
/// program that writes to the input pipe, in the middle of a frame.
class StoppableSource final : public FrameSource {
 public:
  StoppableSource(std::unique_ptr<FrameSource> source, std::stop_token stop)
      : source_(std::move(source)), stop_(std::move(stop)) {}

  VideoFormat format() const override { return source_->format(); }
  std::optional<std::int64_t> frame_count() const override { return source_->frame_count(); }
  std::optional<std::int64_t> expected_frame_count() const override { return source_->expected_frame_count(); }
  bool seekable() const override { return source_->seekable(); }
  bool live() const override { return source_->live(); }
  bool concurrent() const override { return source_->concurrent(); }
  std::int64_t skip_towards(std::int64_t next, std::int64_t index) override { return source_->skip_towards(next, index); }
  void stop_waiting() override { source_->stop_waiting(); }
  std::span<const std::uint8_t> in_place(std::int64_t index) override { return source_->in_place(index); }
  bool in_host_memory() const override { return source_->in_host_memory(); }
  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    try {
      return source_->read(index, frame);
    } catch (const Error&) {
      if (stop_.stop_requested()) return false;
      throw;
    }
  }

 private:
  std::unique_ptr<FrameSource> source_;
  std::stop_token stop_;
};

}  // namespace

EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                const std::function<void(const std::string&)>& warn) {
  SourceOptions source = options.source;
  source.stop = stop;
  source.warn = warn;
  EncodeSource opened;
  opened.frames =
      clip_frames(open_video(source), options.first_frame, options.max_frames > 0 ? options.max_frames : -1);
  if (options.prefilter) {
    auto smoothed =
        std::make_unique<PrefilterSource>(std::move(opened.frames), *options.prefilter, source.limits.max_memory / 2);
    opened.bytes = smoothed->memory();
    opened.frames = std::move(smoothed);
  }
  opened.frames = std::make_unique<StoppableSource>(std::move(opened.frames), std::move(stop));
  return opened;
}

}  // namespace c63::tools
