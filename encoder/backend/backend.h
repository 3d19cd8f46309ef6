#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/source_frames.h"
#include "c63/encoder.h"
#include "decide/frame_plan.h"

namespace c63 {

/// One frame for one GOP chain of a backend.
struct ChainFrame {
  int chain = 0;
  FramePlan plan;
  double read_ms = 0;  ///< what reading it took; handed on to the statistics
  std::span<const std::uint8_t> in_place = {};  ///< its samples where they lie; empty: they are in the chain's input
  /// The frame as it was before it was filtered, which PSNR and SSIM are against; null: it was not.
  std::shared_ptr<const std::vector<std::uint8_t>> original = {};
  std::span<const std::uint8_t> original_in_place = {};  ///< the same of frames in place
};

/// A frame that a chain has finished.
struct ChainResult {
  int chain = 0;
  EncodedFrame frame;
};

/// What a run must know of a backend.
struct BackendInfo {
  std::string description;  ///< for people: "cpu (avx512, 2 threads)" or "cuda:0 NVIDIA H200 (sm_90)"
  int chains = 1;           ///< GOPs that it encodes at the same time
  int depth = 1;            ///< frames that a chain can hold between submit() and collect()
  int inputs = 1;           ///< inputs that may be in hand: taken by input() and neither submitted nor discarded
  int parallelism = 1;      ///< frames that are worked on at a time: stage times add up to this many times the run's
  bool uses_arena = false;  ///< keeps the arena's threads busy, so that nobody else should wait for them
};

/// One device that encodes frames: a GPU, or the machine's CPU. It has a number of GOP chains, each with its own reference
/// picture, which are given the frames of a GOP in order, key frame first. Chains do not know of each other, so how many there
/// are never changes a byte; all that does is in the plans. Settings are valid when a backend is opened.
///
/// Threads: one calls input(), submit() and discard_input() (input() of several chains may be called by several at once),
/// another one collect(), both at the same time.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The same as long as the backend lives.
  [[nodiscard]] virtual const BackendInfo& info() const = 0;

  /// Where the next frame of `chain` is to be put: frame_bytes(width, height) bytes, valid until it is submitted. Only
  /// while the chain holds fewer than `depth` frames.
  [[nodiscard]] virtual std::span<std::uint8_t> input(int chain) = 0;
  /// There was no frame for what input() gave last.
  virtual void discard_input([[maybe_unused]] int chain) {}
  /// Whether frames can be encoded from memory like this, which stays as it is meanwhile, without being put into an input.
  [[nodiscard]] virtual bool accepts([[maybe_unused]] std::span<const std::uint8_t> in_place) const { return false; }

  /// Frames of a chain that are looked at before they are coded, in the device's memory; they live as long as the
  /// backend. Null: a look-ahead keeps them in host memory. One thread a chain uses them.
  [[nodiscard]] virtual SourceFrames* source_frames([[maybe_unused]] int chain) { return nullptr; }

  /// Starts encoding the frames that input() was filled with, or that lie in place, at most one a chain and call. Returns at
  /// once.
  virtual void submit(std::span<const ChainFrame> frames) = 0;

  /// Waits until at least one of the frames in flight is finished, and appends all that are; frames of one chain come in
  /// order. At least one must be in flight. Throws what went wrong on the device.
  virtual void collect(std::vector<ChainResult>& finished) = 0;

  /// The frames in flight are of no more use: those that nobody has begun with need not be coded, and collect() may return with
  /// nothing. After it the backend takes no more frames. Any thread may call it.
  virtual void drop() noexcept {}
};

}  // namespace c63
