#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "bitstream/entropy_decoder.h"
#include "bitstream/frame_syntax.h"
#include "c63/decoder.h"
#include "c63/trace.h"
#include "cpu/kernels.h"
#include "pipeline/picture_pool.h"
#include "pipeline/stream_reader.h"

namespace c63 {

/// Decodes a coded frame, and then others, into pictures. A few MCU rows at a time are entropy decoded, and restored where the
/// rows of the reference that they need are there; where those are missing, entropy decoding goes on to the end of the frame.
class FrameTask : public RowProgress::Waiter {
 public:
  explicit FrameTask(const DecoderSettings& settings);
  virtual ~FrameTask() = default;

  /// The next frame to decode, which is no repeat.
  void begin(StreamFrame&& coded, FramePictures&& pictures);

  /// Decodes as far as the reference is there. False: it is not, and resume() will be called; then nothing here may be
  /// touched any more, for another thread may run it. True: the frame is decoded, or fault() says why not.
  [[nodiscard]] bool run(TraceRow& trace) noexcept;
  /// Not from run(): whoever made the task decides where it runs on.
  void resume() noexcept override {}

  /// The next run() ends the frame without decoding it.
  void cancel() noexcept { cancelled_ = true; }

  /// Of the frame that was decoded; places are those in the stream. Nothing where a frame before it failed.
  [[nodiscard]] const std::exception_ptr& fault() const { return fault_; }
  /// The vectors of an inter frame, inherited ones included.
  [[nodiscard]] std::array<MotionField, kPlanes> motion() const;
  /// Gives the pictures and the coded bytes back.
  void end() noexcept;

  /// Bytes that a task holds besides its coded frame and pictures.
  [[nodiscard]] static std::uint64_t memory(const Geometry& geometry) { return 5 * geometry.padded_samples() / 2; }

 private:
  [[nodiscard]] bool decode(TraceRow& trace);
  [[nodiscard]] bool restore(int end, bool may_wait);

  const cpu::Kernels& kernels_;
  bool keep_prediction_;
  FrameSyntax syntax_;
  std::vector<std::uint8_t> scan_bytes_;
  QuantizationTables tables_{};  ///< those of transforms_
  std::array<cpu::TransformTable, kPlanes> transforms_;

  StreamFrame coded_;
  FramePictures pictures_;
  std::optional<ScanDecoder> scan_;
  int decoded_ = 0;   ///< MCU rows
  int restored_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::exception_ptr fault_;
};

}  // namespace c63
