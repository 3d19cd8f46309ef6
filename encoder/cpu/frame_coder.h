#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "c63/motion.h"
#include "c63/settings.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// The inputs and outputs of all stages for one frame. The pointers are not owned.
struct FrameJob {
  const FramePlan* plan = nullptr;
  const PaddedPicture* current = nullptr;
  /// the frame before any filter, which errors are measured against, in linear layout; empty: `current` is used
  std::span<const std::uint8_t> original = {};
  const PaddedPicture* reference = nullptr;     ///< not read in key frames
  PaddedPicture* reconstruction = nullptr;      ///< must not be the reference
  FrameSyntax* syntax = nullptr;                ///< output: the levels and vectors
  /// Output: the vectors that predict the blocks. A block without its own vector may inherit that of the previous
  /// frame.
  PredictionVectors* vectors = nullptr;
  const PredictionVectors* before = nullptr;    ///< the vectors that predict the blocks of the previous frame
  PaddedPicture* prediction = nullptr;          ///< output: the prediction; null: not wanted
  std::array<MotionField, kPlanes>* motion = nullptr;  ///< output: the SADs; null: not wanted

  /// The vectors that predict blocks coded without their own vector; null: such blocks are predicted from zero.
  [[nodiscard]] const PredictionVectors* inherited() const { return plan->advances_reference() ? nullptr : before; }
};

/// Searches, transforms and reconstructs the frames of one GOP chain, as their plans say. The plain coder handles plans
/// that decide nothing by rate; the rate coder handles all others.
///
/// For an inter frame, call begin(), prepare_row() for all MCU rows, and prepare(). Then call search_row() and
/// code_row() for each row. If codes_after_search() is true, all rows must be searched before the first one is coded.
/// Otherwise a row may be coded as soon as it is searched. For a key frame, call begin() and code_row() for each row.
/// Each of these functions may be called for the rows in any order, and for several rows at the same time.
class FrameCoder {
 public:
  FrameCoder(const Kernels& kernels, const Geometry& geometry) : kernels_(kernels), geometry_(geometry) {}
  virtual ~FrameCoder() = default;
  FrameCoder(const FrameCoder&) = delete;
  FrameCoder& operator=(const FrameCoder&) = delete;

  /// Begins the next frame. `job` must live until the frame is coded.
  virtual void begin(const FrameJob& job);
  virtual void prepare_row(int mcu_row) = 0;
  virtual void prepare() = 0;
  /// Finds the vectors of an MCU row. Returns the sum of the SADs of its luma blocks.
  virtual std::uint64_t search_row(int mcu_row) = 0;
  /// Codes and reconstructs an MCU row. Returns its D + λR, as RowDecider::decide() counts it. The plain coder returns
  /// 0.
  virtual std::int64_t code_row(int mcu_row) = 0;
  /// Returns true if all rows must be searched before the first one is coded.
  [[nodiscard]] virtual bool codes_after_search() const = 0;

 protected:
  [[nodiscard]] const FrameJob& job() const { return *job_; }

  const Kernels& kernels_;
  Geometry geometry_;
  std::array<TransformTable, kPlanes> transforms_;

 private:
  const FrameJob* job_ = nullptr;
  QuantizationTables tables_{};  ///< the tables for which transforms_ was made
};

/// Makes a coder with the course encoder's decisions: each block of an inter frame has the vector that the search
/// method finds, by default that of least SAD. Levels are rounded.
[[nodiscard]] std::unique_ptr<FrameCoder> make_plain_coder(const CodingSettings& settings, const Kernels& kernels);

}  // namespace c63::cpu
