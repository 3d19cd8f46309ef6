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

/// All inputs and outputs of the stages of one frame.
struct FrameJob {
  const FramePlan* plan = nullptr;
  const PaddedPicture* current = nullptr;
  /// the original, to measure errors against, in linear layout; empty: current
  std::span<const std::uint8_t> original = {};
  const PaddedPicture* reference = nullptr;     ///< not read in key frames
  PaddedPicture* reconstruction = nullptr;      ///< a plane other than the reference
  FrameSyntax* syntax = nullptr;                ///< the result
  PredictionVectors* vectors = nullptr;         ///< the vectors that predict blocks
  const PredictionVectors* before = nullptr;    ///< the same of the previous frame
  PaddedPicture* prediction = nullptr;          ///< filled if not null
  std::array<MotionField, kPlanes>* motion = nullptr;  ///< SADs are filled if not null

  /// The vectors of blocks that are coded without one; null if those are predicted from zero.
  [[nodiscard]] const PredictionVectors* inherited() const { return plan->advances_reference() ? nullptr : before; }
};

/// Search, transform and reconstruction of the frames of one GOP chain, as their plans say. A plan that decides nothing by rate is
/// carried out by the plain coder, any other by the rate coder.
///
/// For an inter frame, the caller calls begin(), prepare_row() for all rows and prepare(). Then it searches and codes the MCU rows;
/// for a key frame it codes them after begin(). A row is coded after it has been searched, or after all rows have been
/// (codes_after_search()). Within a step, rows may be worked on in any order and at the same time.
class FrameCoder {
 public:
  FrameCoder(const Kernels& kernels, const Geometry& geometry) : kernels_(kernels), geometry_(geometry) {}
  virtual ~FrameCoder() = default;
  FrameCoder(const FrameCoder&) = delete;
  FrameCoder& operator=(const FrameCoder&) = delete;

  /// Takes the next frame. The job lives until the frame is coded.
  virtual void begin(const FrameJob& job);
  virtual void prepare_row(int mcu_row) = 0;
  virtual void prepare() = 0;
  /// Finds the vectors of an MCU row. Returns the sum of luma's SADs.
  virtual std::uint64_t search_row(int mcu_row) = 0;
  /// Codes and reconstructs an MCU row. Returns D + λR as RowDecider counts it; 0 from the plain coder.
  virtual std::int64_t code_row(int mcu_row) = 0;
  /// Returns true if all rows must have been searched before one is coded.
  [[nodiscard]] virtual bool codes_after_search() const = 0;

 protected:
  [[nodiscard]] const FrameJob& job() const { return *job_; }

  const Kernels& kernels_;
  Geometry geometry_;
  std::array<TransformTable, kPlanes> transforms_;

 private:
  const FrameJob* job_ = nullptr;
  QuantizationTables tables_{};  ///< those of transforms_
};

/// Every block of an inter frame has the vector of least SAD, and levels are rounded: the course encoder's decisions.
[[nodiscard]] std::unique_ptr<FrameCoder> make_plain_coder(const CodingSettings& settings, const Kernels& kernels);

}  // namespace c63::cpu
