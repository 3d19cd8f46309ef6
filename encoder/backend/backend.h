#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/source_frames.h"
#include "c63/encoder.h"
#include "decide/frame_plan.h"

namespace c63 {

/// A prepared frame: read and planned, on its way to a GOP chain of a device.
struct ChainFrame {
  int chain = 0;
  FramePlan plan;
  StageTimes times = {};  ///< times of reading, looking ahead and filtering; they go to the frame's statistics
  std::chrono::steady_clock::time_point ready = {};  ///< when it was given to the device; CodedFrame has it again
  /// The frame's samples, if the backend reads them in place: in the source's memory (see accepts()), or in the memory
  /// of SourceFrames. Empty: they are in the memory that input() returned.
  std::span<const std::uint8_t> in_place = {};
  std::shared_ptr<const void> held = {};  ///< what keeps the memory of in_place; null: it stays anyway
  /// If a filter changed the frame: its samples before the filter, against which PSNR and SSIM are measured. Null: the
  /// frame is not filtered, or original_in_place has these samples.
  std::shared_ptr<const std::vector<std::uint8_t>> original = {};
  std::span<const std::uint8_t> original_in_place = {};  ///< the same samples, if they lie in place
};

/// A coded frame, on its way from a device to the sink.
struct CodedFrame {
  int chain = 0;
  EncodedFrame frame;
  std::chrono::steady_clock::time_point ready = {};  ///< that of its ChainFrame
  int device = 0;  ///< number of the device in the run; the run sets it
};

/// What a run must know about a backend.
struct BackendInfo {
  std::string description;  ///< for people: "cpu (avx512, 2 threads)" or "cuda:0 NVIDIA H200 (sm_90)"
  int chains = 1;           ///< GOPs that can be encoded at the same time
  int depth = 1;            ///< the most frames that a chain holds between submit() and collect()
  int inputs = 1;           ///< the most inputs in use: returned by input(), and neither submitted nor discarded
  /// The number of frames that are processed at the same time. All stage times of a run, added up, are at most this
  /// many times as long as the run.
  int parallelism = 1;
};

/// One device that encodes frames: a GPU, or the machine's CPU. It has a number of GOP chains, each with its own
/// reference picture. A chain gets the frames of a GOP in order, key frame first. Chains do not depend on each other,
/// so their number does not change the bytes; only the plans decide the bytes. The settings must be valid when a
/// backend is opened.
///
/// Threads: one thread calls submit() and discard_input(). Several threads may call input() at the same time, for
/// different chains. Another thread calls collect() at the same time.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Does not change while the backend lives.
  [[nodiscard]] virtual const BackendInfo& info() const = 0;

  /// Returns the memory for the next frame of `chain`: frame_bytes(width, height) bytes, valid until the frame is
  /// submitted. The chain must hold fewer than `depth` frames.
  [[nodiscard]] virtual std::span<std::uint8_t> input(int chain) = 0;
  /// Says that the memory from the last input() of this chain will not be used, because the source has no more frames
  /// or the run was stopped.
  virtual void discard_input([[maybe_unused]] int chain) {}
  /// Returns true if a frame at `in_place` can be encoded without a copy. The memory must not change until the frame is
  /// finished.
  [[nodiscard]] virtual bool accepts([[maybe_unused]] std::span<const std::uint8_t> in_place) const { return false; }

  /// Returns the SourceFrames of a chain, in which its look-ahead keeps frames in the device's memory. They live as
  /// long as the backend. Null: the look-ahead keeps its frames in host memory. Only one thread at a time may use the
  /// SourceFrames of a chain.
  [[nodiscard]] virtual SourceFrames* source_frames([[maybe_unused]] int chain) { return nullptr; }

  /// Starts to encode frames, at most one for each chain. Their samples are in the memory from input(), or are read in
  /// place. Returns at once.
  virtual void submit(std::span<const ChainFrame> frames) = 0;

  /// Waits until at least one submitted frame is finished, and appends all finished frames to `finished`. Frames of one
  /// chain come in order. At least one frame must be submitted and not collected. Throws the device's error.
  virtual void collect(std::vector<CodedFrame>& finished) = 0;

  /// Says that submitted frames are no longer needed. Frames that are not begun need not be coded, and collect() may
  /// return none. After that, the backend takes no more frames. Any thread may call it.
  virtual void drop() noexcept {}
};

}  // namespace c63
