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

/// Decodes coded frames into pictures, one after another. It entropy decodes a few MCU rows at a time and reconstructs them if the
/// rows of the reference that they need are decoded. If not, entropy decoding continues to the end of the frame.
class FrameTask : public RowProgress::Waiter {
 public:
  explicit FrameTask(const DecoderSettings& settings);
  virtual ~FrameTask() = default;

  /// Takes the next frame to decode, which is not a repeat.
  void begin(StreamFrame&& coded, FramePictures&& pictures);

  /// Decodes the rows whose reference is decoded. Returns true if the frame is decoded or failed (fault()). Returns false if it must
  /// wait: resume() will be called, and the task must not be touched, since another thread may already run it.
  [[nodiscard]] bool run(TraceRow& trace) noexcept;
  /// Called when the task can go on. A derived class decides where; it does not call run() here.
  void resume() noexcept override {}

  /// Makes the next run() end the frame without decoding it.
  void cancel() noexcept { cancelled_ = true; }

  /// Returns the error of the frame, with its place in the stream. Null if there is none, or if an earlier frame failed.
  [[nodiscard]] const std::exception_ptr& fault() const { return fault_; }
  /// Returns the vectors of an inter frame, with inherited ones.
  [[nodiscard]] std::array<MotionField, kPlanes> motion() const;
  /// Releases the pictures and the coded bytes.
  void end() noexcept;

  /// Returns the bytes that a task holds, without its coded frame and pictures.
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
  int decoded_ = 0;   ///< MCU rows that are entropy decoded
  int restored_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::exception_ptr fault_;
};

}  // namespace c63
