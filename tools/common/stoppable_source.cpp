#include "common/stoppable_source.h"

#include <utility>

#include "c63/error.h"

namespace c63::tools {
namespace {

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

std::unique_ptr<FrameSource> stoppable_source(std::unique_ptr<FrameSource> source, std::stop_token stop) {
  return std::make_unique<StoppableSource>(std::move(source), std::move(stop));
}

}  // namespace c63::tools
