// The FrameSupply of a seekable source. Each caller reads the frames that it needs, directly to where they are needed.

#include <algorithm>
#include <array>
#include <limits>

#include "encode/frame_supply.h"

namespace c63 {
namespace {

/// The number of frames in which scene cuts are searched at the same time, if several threads can read the source.
constexpr std::int64_t kFramesAtOnce = 16;

class SeekingSupply final : public FrameSupply {
 public:
  SeekingSupply(FrameSource& source, const FrameSupplyOptions& options)
      : FrameSupply(source, options),
        concurrent_(source.concurrent()),
        promised_(source.frame_count()),
        end_(promised_.value_or(kUnknown)) {}

  [[nodiscard]] FrameState state(std::int64_t index) override {
    const std::lock_guard lock(mutex_);
    if (index >= end_) return FrameState::none;
    if (!cuts_ || index < cuts_->decided()) return FrameState::ready;
    wanted_ = std::max(wanted_, index);
    return FrameState::pending;
  }

  /// Only one thread at a time searches. mutex_ is not held while it reads frames.
  bool search_scenes() override {
    const std::lock_guard searching(search_mutex_);
    {
      const std::lock_guard lock(mutex_);
      if (!cuts_ || wanted_ < cuts_->decided()) return false;
      if (wanted_ >= end_) {  // a read has found the end meanwhile
        wanted_ = -1;
        return true;
      }
    }
    std::array<Look, kFramesAtOnce> looks;
    const std::int64_t count = concurrent_ ? kFramesAtOnce : 1;
    parallel_for(count, [&](std::int64_t i) { looks[static_cast<std::size_t>(i)] = look_at(looked_at_ + i); });
    const std::lock_guard lock(mutex_);
    for (std::int64_t i = 0; i < count; ++i) {
      const Look& look = looks[static_cast<std::size_t>(i)];
      if (!look.histogram) {
        // The first frame that cannot be read ends the video, even if it could be read later, because the starts of
        // later scenes are then unknown.
        end_at(looked_at_, look.fault);
        cuts_->end();
        break;
      }
      cuts_->add(*look.histogram);
      ++looked_at_;
    }
    return true;
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
    const std::lock_guard lock(mutex_);
    if (!there) end_at(index, fault);
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

 private:
  static constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

  /// What the search found at a frame. No histogram: the frame could not be read, because of `fault` or since the video
  /// ends before it.
  struct Look {
    std::optional<SceneCuts::Histogram> histogram;
    std::exception_ptr fault;
  };

  [[nodiscard]] Look look_at(std::int64_t index) {
    try {
      std::vector<std::uint8_t> frame(frame_bytes_);
      if (!read_source(index, frame)) return {};
      return {.histogram = histogram_of(frame), .fault = {}};
    } catch (...) {
      return {.histogram = {}, .fault = std::current_exception()};
    }
  }

  bool read_source(std::int64_t index, std::span<std::uint8_t> frame) {
    if (concurrent_) return source_.read(index, frame);
    const std::lock_guard lock(source_mutex_);
    return source_.read(index, frame);
  }

  /// The caller holds mutex_.
  void end_at(std::int64_t index, const std::exception_ptr& fault) {
    if (index >= end_) return;
    end_ = index;
    fault_ = fault;
  }

  const bool concurrent_;
  std::mutex source_mutex_;  ///< held while reading a source that is not concurrent
  const std::optional<std::int64_t> promised_;  ///< the number of frames, if the source knows it
  std::mutex search_mutex_;  ///< held while a thread searches for scene cuts
  std::int64_t looked_at_ = 0;  ///< frames that the search has read; used by the searching thread

  // Guarded by mutex_:
  std::int64_t end_;          ///< the end of the video, if it is known
  std::int64_t wanted_ = -1;  ///< the last frame that is pending because scene cuts are not searched that far
};

}  // namespace

std::unique_ptr<FrameSupply> make_seeking_supply(FrameSource& source, const FrameSupplyOptions& options) {
  return std::make_unique<SeekingSupply>(source, options);
}

}  // namespace c63
