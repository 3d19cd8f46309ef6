#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "c63/encoder.h"
#include "c63/trace.h"
#include "cpu/frame_coder.h"
#include "cpu/padded_picture.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// A frame to be coded.
struct ChainPicture {
  const PaddedPicture& picture;                 ///< laid out
  std::span<const std::uint8_t> original = {};  ///< before it was filtered, in linear layout; empty: it was not
};

/// Encodes the frames of one GOP, one after another, as their plans say. Rows of MCUs are coded in parallel by the threads of
/// the arena that the caller is in.
///
/// A frame is coded in two steps, and the next frame's first step needs nothing of the second: so writing may run beside it.
class GopChain {
 public:
  /// Frames that may be coded and not yet written.
  static constexpr std::int64_t kUnwritten = 2;

  GopChain(const EncoderSettings& settings, const Kernels& kernels);

  /// Searches, transforms and reconstructs frame number `count` of the chain, which fills everything of `frame` but its bytes
  /// and their statistics. Tells `trace` what took the time.
  void code(std::int64_t count, const ChainPicture& picture, const FramePlan& plan, EncodedFrame& frame, TraceRow& trace);
  /// Writes the bytes of frame number `count`, which is coded, while at most one later frame is.
  void write(std::int64_t count, const FramePlan& plan, EncodedFrame& frame) const;

  /// Both steps.
  void encode(const ChainPicture& picture, const FramePlan& plan, EncodedFrame& frame, TraceRow& trace);

  /// What the next frame depends on.
  struct State {
    std::array<PaddedPicture, 2> pictures;
    int newest = 0;
    FrameSyntax last;  ///< syntax elements of the frame before
    bool last_advanced = true;
    InheritedVectors inherited;
  };
  [[nodiscard]] State save() const;
  /// Goes back to a state of a chain with the same settings. All frames that are coded have been written.
  void restore(const State& state);

 private:
  [[nodiscard]] FrameSyntax& syntax_of(std::int64_t count) { return syntax_[static_cast<std::size_t>(count % kUnwritten)]; }
  [[nodiscard]] const FrameSyntax& syntax_of(std::int64_t count) const {
    return syntax_[static_cast<std::size_t>(count % kUnwritten)];
  }
  /// Takes what blocks without a vector have inherited out of the frame's syntax elements, where it is not coded.
  void keep_inherited(const FramePlan& plan, FrameSyntax& syntax);
  [[nodiscard]] RateCoder& rate_coder();
  /// Codes the frame; false, and whatever was coded does not count, where it is cheaper to repeat the one before.
  [[nodiscard]] bool code_unless_repeated(const FrameJob& job, EncodedFrame& frame, TraceRow& trace);
  /// Codes all rows; returns D + λR of the frame, headers not counted, where it is decided by rate.
  std::int64_t code_rows(const FrameJob& job, FrameStatistics& statistics, TraceRow& trace);
  /// Makes a frame that repeats the one before of one that was not or in vain coded.
  void repeat(const FrameJob& job, std::int64_t count, EncodedFrame& frame);
  /// Copies what the settings ask for beside the coded bytes.
  void hand_out(const FrameJob& job, EncodedFrame& frame);

  EncoderSettings settings_;
  const Kernels& kernels_;
  FrameCoder coder_;
  std::array<FrameSyntax, kUnwritten> syntax_;
  std::array<PaddedPicture, 2> pictures_;  ///< the reconstruction of the frame coded last, and its reference
  int newest_ = 0;                         ///< which of them is the reconstruction
  std::int64_t coded_ = 0;                 ///< frames, where encode() counts them
  std::int64_t last_ = 1;                  ///< number of the frame coded last
  bool last_advanced_ = true;              ///< that frame advanced the reference
  InheritedVectors inherited_;             ///< how it was predicted, where it did not
  PaddedPicture prediction_;
  Searchers searchers_;
  std::unique_ptr<RateCoder> rate_;              ///< made for the first plan that decides by rate
  std::vector<std::uint8_t> shown_prediction_;   ///< handed out with the last frame; repeats show it again
};

}  // namespace c63::cpu
