#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "backend/source_frames.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"
#include "decide/presets.h"
#include "decide/propagated_weights.h"
#include "decide/source_motion.h"
#include "decide/temporal_filter.h"

namespace c63 {

/// Source frames in host memory. The calling thread does all work.
class HostSourceFrames final : public SourceFrames {
 public:
  HostSourceFrames(const Geometry& geometry, const cpu::Kernels& kernels, const LookaheadDecisions& decisions);

  void begin_gop(Cost lambda) override {
    frames_.clear();
    decisions_.lambda = lambda;
    filter_ = TemporalFilter(lambda);
  }
  void pop_front() override { frames_.pop_front(); }
  [[nodiscard]] std::span<std::uint8_t> input() override;
  std::array<MotionTotals, 2> push() override;
  MotionTotals find_motion(int back) override;
  void predict_from(int back) override;
  [[nodiscard]] PreparedFrame look_at(std::size_t index, bool plain, std::span<std::uint8_t> input) override;

 private:
  struct Frame {
    std::shared_ptr<std::vector<std::uint8_t>> original;
    cpu::PaddedPicture picture;
    SourceMotion backward;         ///< motion against the previous frame
    SourceMotion second_backward;  ///< motion against the frame two frames before
    int back = 0;                  ///< distance to the frame's reference, in frames; 0: no reference
    ErrorFlow flow;                ///< how errors of its reference pass into it
  };

  [[nodiscard]] SourceMotion find(const Frame& from, const Frame& to, std::span<const MotionVector> hints) const;
  void filter(std::size_t index, std::span<std::uint8_t> filtered);
  [[nodiscard]] FrameWeights weights_of(std::size_t index) const;

  Geometry geometry_;
  LookaheadDecisions decisions_;
  const cpu::Kernels& kernels_;
  TemporalFilter filter_;
  std::shared_ptr<std::vector<std::uint8_t>> next_;  ///< the memory that input() gave
  std::deque<Frame> frames_;
  SourceMotion further_;  ///< motion of the newest frame that find_motion() found last
  cpu::PaddedPicture averaged_;
};

}  // namespace c63
