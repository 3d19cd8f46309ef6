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
  double read_ms = 0;                           ///< time to read it, passed on to the statistics
  std::span<const std::uint8_t> in_place = {};  ///< its samples in place; empty: they are in the chain's input
  /// The original of a filtered frame. PSNR and SSIM refer to it. Null: the frame was not filtered.
  std::shared_ptr<const std::vector<std::uint8_t>> original = {};
  std::span<const std::uint8_t> original_in_place = {};  ///< the same for frames in place
};

/// A frame that a chain has finished.
struct ChainResult {
  int chain = 0;
  EncodedFrame frame;
};

/// What a run must know about a backend.
struct BackendInfo {
  std::string description;  ///< for people: "cpu (avx512, 2 threads)" or "cuda:0 NVIDIA H200 (sm_90)"
  int chains = 1;           ///< GOPs that it encodes at the same time
  int depth = 1;            ///< frames that a chain can hold between submit() and collect()
  int inputs = 1;           ///< inputs that may be in use: returned by input(), and neither submitted nor discarded
  int parallelism = 1;      ///< frames in work at the same time; stage times add up to this many times the run's time
  bool uses_arena = false;  ///< keeps the arena's threads busy, so other threads should not wait for them
};

/// One device that encodes frames: a GPU, or the machine's CPU. It has a number of GOP chains, each with its own
/// reference picture. A chain gets the frames of a GOP in order, key frame first. Chains do not depend on each other,
/// so their number never changes a byte; only the plans decide the bytes. Settings must be valid when a backend is
/// opened.
///
/// Threads: one thread calls input(), submit() and discard_input(); several may call input() of different chains.
/// Another thread calls collect() at the same time.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Constant while the backend lives.
  [[nodiscard]] virtual const BackendInfo& info() const = 0;

  /// Returns the place for the next frame of `chain`: frame_bytes(width, height) bytes, valid until it is submitted.
  /// Only while the chain holds fewer than `depth` frames.
  [[nodiscard]] virtual std::span<std::uint8_t> input(int chain) = 0;
  /// Says that there was no frame for the last place of input().
  virtual void discard_input([[maybe_unused]] int chain) {}
  /// Returns true if frames can be encoded from memory like this without a copy. The memory must not change meanwhile.
  [[nodiscard]] virtual bool accepts([[maybe_unused]] std::span<const std::uint8_t> in_place) const { return false; }

  /// Returns the look-ahead of a chain in the device's memory. It lives as long as the backend. Null: a look-ahead
  /// keeps its frames in host memory. One thread for each chain uses it.
  [[nodiscard]] virtual SourceFrames* source_frames([[maybe_unused]] int chain) { return nullptr; }

  /// Starts encoding the frames in inputs or in place, at most one for each chain in a call. Returns at once.
  virtual void submit(std::span<const ChainFrame> frames) = 0;

  /// Waits until at least one frame in flight is finished, and appends all finished frames. Frames of one chain come in
  /// order. At least one must be in flight. Throws the device's error.
  virtual void collect(std::vector<ChainResult>& finished) = 0;

  /// Says that the frames in flight are no longer needed. Frames that are not begun need not be coded, and collect()
  /// may return none. Afterwards the backend takes no more frames. Any thread may call it.
  virtual void drop() noexcept {}
};

}  // namespace c63
