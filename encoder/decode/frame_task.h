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
#include "decode/picture_pool.h"
#include "decode/stream_reader.h"

namespace c63 {

/// Decodes one coded frame after another. It entropy decodes a few MCU rows at a time. It reconstructs them if the rows
/// of the reference that they need are decoded; otherwise it goes on with entropy decoding, to the end of the frame.
class FrameTask : public RowProgress::Waiter {
 public:
  explicit FrameTask(const DecoderSettings& settings);
  virtual ~FrameTask() = default;

  /// Begins the next frame, which must not be a repeat.
  void begin(StreamFrame&& coded, FramePictures&& pictures);

  /// Decodes as many rows as possible. Returns true if the frame is decoded or failed (fault()). Returns false if it
  /// must wait for rows of the reference; then resume() is called when they are ready. The caller must not touch the
  /// task after `false`, because another thread may already run it.
  [[nodiscard]] bool run(TraceRow& trace) noexcept;
  /// Called when the task can continue. A derived class must let some thread call run(), but must not call run() in
  /// this function.
  void resume() noexcept override {}

  /// Makes the next run() end the frame without decoding it.
  void cancel() noexcept { cancelled_ = true; }

  /// Returns the frame's error with its place in the stream. Null if the frame itself has no error, even if an
  /// earlier frame failed.
  [[nodiscard]] const std::exception_ptr& fault() const { return fault_; }
  /// Returns the vectors of an inter frame, including inherited ones.
  [[nodiscard]] std::array<MotionField, kPlanes> motion() const;
  /// Releases the pictures and the coded bytes.
  void end() noexcept;

  /// Returns the memory that a task takes, in bytes, without its coded frame and pictures.
  [[nodiscard]] static std::uint64_t memory(const Geometry& geometry) { return 5 * geometry.padded_samples() / 2; }

 private:
  [[nodiscard]] bool decode(TraceRow& trace);
  [[nodiscard]] bool restore(int end, bool may_wait);

  const cpu::Kernels& kernels_;
  bool keep_prediction_;
  FrameSyntax syntax_;
  std::vector<std::uint8_t> scan_bytes_;
  QuantizationTables tables_{};  ///< the tables for which transforms_ was made
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
