// The FrameSupply of a seekable source. Each caller reads the frames that it needs, directly to where they are needed.

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "encode/frame_supply.h"
#include "encode/scene_cuts.h"

namespace c63 {
namespace {

/// The number of frames in which scene cuts are searched at the same time, if several threads can read the source.
constexpr std::int64_t kFramesAtOnce = 16;

class SeekingSupply final : public FrameSupply {
 public:
  SeekingSupply(FrameSource& source, const FrameSupplyOptions& options)
      : source_(source),
        concurrent_(source.concurrent()),
        frame_bytes_(c63::frame_bytes(source.format().width, source.format().height)),
        luma_bytes_(plane_bytes(source.format().width, source.format().height, 0)),
        promised_(source.frame_count()),
        end_(promised_.value_or(kUnknown)) {
    if (options.scene_cuts) cuts_ = options.scene_starts ? SceneCuts(*options.scene_starts) : SceneCuts();
  }

  [[nodiscard]] FrameState state(std::int64_t index) override {
    const std::lock_guard lock(mutex_);
    return index < end_ ? FrameState::ready : FrameState::none;
  }

  [[nodiscard]] bool starts_scene(std::int64_t index) override {
    if (!cuts_) return false;
    const std::lock_guard lock(cuts_mutex_);
    while (cuts_->decided() <= index && !looked_at_all_) look_at_some();
    return cuts_->starts_scene(index);
  }

  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    const auto start = Clock::now();
    std::exception_ptr fault;
    bool there = false;
    try {
      there = read_source(index, frame);
    } catch (...) {
      fault = std::current_exception();
    }
    if (!there) end_at(index, fault);
    const std::lock_guard lock(mutex_);
    reading_ += Clock::now() - start;
    return there && index < end_;
  }

  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override {
    return concurrent_ ? source_.in_place(index) : std::span<const std::uint8_t>{};
  }
  [[nodiscard]] bool concurrent() const override { return concurrent_; }
  [[nodiscard]] const char* read_name() const override { return "read"; }

  [[nodiscard]] std::optional<std::int64_t> frames() const override {
    const std::lock_guard lock(mutex_);
    if (promised_) return promised_;
    return end_ == kUnknown ? std::nullopt : std::optional(end_);
  }
  [[nodiscard]] std::exception_ptr fault() const override {
    const std::lock_guard lock(mutex_);
    return fault_;
  }
  [[nodiscard]] double reading_ms() const override {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double, std::milli>(reading_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

  bool read_source(std::int64_t index, std::span<std::uint8_t> frame) {
    if (concurrent_) return source_.read(index, frame);
    const std::lock_guard lock(source_mutex_);
    return source_.read(index, frame);
  }

  void end_at(std::int64_t index, const std::exception_ptr& fault) {
    const std::lock_guard lock(mutex_);
    if (index >= end_) return;
    end_ = index;
    fault_ = fault;
  }

  /// Adds the histograms of the next frames to cuts_. The first frame that cannot be read ends the video, even if it
  /// could be read later, because the starts of later scenes are then unknown.
  void look_at_some() {
    struct Look {
      std::optional<SceneCuts::Histogram> histogram;
      std::exception_ptr fault;
    };
    const std::int64_t count = concurrent_ ? kFramesAtOnce : 1;
    std::array<Look, kFramesAtOnce> looks;
    oneapi::tbb::parallel_for(std::int64_t{0}, count, [&](std::int64_t i) {
      Look& look = looks[static_cast<std::size_t>(i)];
      try {
        std::vector<std::uint8_t> frame(frame_bytes_);
        if (!read_source(looked_at_ + i, frame)) return;
        look.histogram = SceneCuts::histogram_of(std::span(frame).first(luma_bytes_));
      } catch (...) {
        look.fault = std::current_exception();
      }
    });
    for (std::int64_t i = 0; i < count; ++i) {
      const Look& look = looks[static_cast<std::size_t>(i)];
      if (!look.histogram) {
        end_at(looked_at_, look.fault);
        looked_at_all_ = true;
        cuts_->end();
        return;
      }
      cuts_->add(*look.histogram);
      ++looked_at_;
    }
  }

  FrameSource& source_;
  bool concurrent_;
  std::size_t frame_bytes_;
  std::size_t luma_bytes_;
  std::mutex source_mutex_;  ///< held while reading a source that is not concurrent

  std::optional<std::int64_t> promised_;  ///< the number of frames, if the source knows it

  mutable std::mutex mutex_;  ///< guards the members below
  std::int64_t end_;          ///< the end of the video, if it is known
  std::exception_ptr fault_;  ///< the error at end_
  Clock::duration reading_{};

  std::mutex cuts_mutex_;  ///< guards the members below; held during the search for scene cuts, which reads frames
  std::optional<SceneCuts> cuts_;
  std::int64_t looked_at_ = 0;
  bool looked_at_all_ = false;
};

}  // namespace

std::unique_ptr<FrameSupply> make_seeking_supply(FrameSource& source, const FrameSupplyOptions& options) {
  return std::make_unique<SeekingSupply>(source, options);
}

}  // namespace c63
