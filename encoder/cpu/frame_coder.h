#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "c63/motion.h"
#include "c63/settings.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"
#include "cpu/plane_search.h"
#include "cpu/row_decider.h"
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

/// Searches, transforms and reconstructs the frames of one GOP chain, as their plans say. If a plan decides nothing by
/// rate, frames are coded as the course encoder codes them: each block of an inter frame has the vector that the search
/// method finds, by default that of least SAD, and levels are rounded. Otherwise vectors and levels are decided by D + λR.
///
/// For an inter frame, call begin(), prepare_row() for all MCU rows, and prepare(). Then call search_row() and
/// code_row() for each row. If codes_after_search() is true, all rows must be searched before the first one is coded.
/// Otherwise a row may be coded as soon as it is searched. For a key frame, call begin() and code_row() for each row.
/// Each of these functions may be called for the rows in any order, and for several rows at the same time.
class FrameCoder {
 public:
  FrameCoder(const CodingSettings& settings, const Kernels& kernels);
  FrameCoder(const FrameCoder&) = delete;
  FrameCoder& operator=(const FrameCoder&) = delete;

  /// Begins the next frame. `job` must live until the frame is coded.
  void begin(const FrameJob& job);
  void prepare_row(int mcu_row);
  void prepare();
  /// Finds the vectors of an MCU row. Returns the sum of the SADs of its luma blocks.
  std::uint64_t search_row(int mcu_row);
  /// Codes and reconstructs an MCU row. Returns its D + λR, as RowDecider::decide() counts it; 0 if the plan decides
  /// nothing by rate.
  std::int64_t code_row(int mcu_row);
  /// Returns true if all rows must be searched before the first one is coded, because decisions use the vectors found in
  /// neighbouring rows.
  [[nodiscard]] bool codes_after_search() const { return by_rate(); }

  /// Returns what the squared error of an MCU row would be if the frame became a repeat. It counts all samples of the row
  /// in Y, U and V, with the padding. If the plan has weights, each MCU's error is weighted.
  [[nodiscard]] std::uint64_t repeat_error(int mcu_row) const;

 private:
  [[nodiscard]] const FrameJob& job() const { return *job_; }
  [[nodiscard]] bool by_rate() const { return job().plan->rate.any(); }
  void make_level_tables();
  /// The weights of a plane's MCUs in an MCU row; null: no weights.
  [[nodiscard]] const Weight* weights_of_row(int plane, int mcu_row) const;
  /// Decides a plane of the row and fills in its levels and vectors. Returns D + λR.
  std::int64_t decide_row(int p, int mcu_row);

  const Kernels& kernels_;
  Geometry geometry_;
  const FrameJob* job_ = nullptr;
  QuantizationTables tables_{};  ///< the tables for which transforms_ was made
  std::array<TransformTable, kPlanes> transforms_;
  std::vector<PlaneSearch> searches_;  ///< one for each plane

  // For decisions by rate:
  /// The frame's weights for luma and for chroma; empty: none.
  FrameWeights weights_;
  FrameWeights chroma_weights_;
  std::array<std::vector<LevelTable>, kPlanes> levels_;  ///< one table for the frame's λ, or one for each weight
  QuantizationTables level_tables_{};                    ///< the quantization tables for which levels_ was made
  Cost lambda_ = 0;                                      ///< the λ for which levels_ was made
  std::mutex deciders_mutex_;
  std::vector<std::unique_ptr<RowDecider>> deciders_;  ///< those that no thread uses; guarded by the mutex
};

}  // namespace c63::cpu
