#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "bitstream/frame_syntax.h"
#include "bitstream/inherited_vectors.h"
#include "c63/encoder.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"
#include "cpu/rate_coder.h"
#include "cpu/search_method.h"
#include "decide/frame_plan.h"

namespace c63::cpu {

/// One searcher for each plane.
using Searchers = std::array<std::unique_ptr<BlockSearcher>, kPlanes>;

/// Everything that the stages of one frame read and write.
struct FrameJob {
  const FramePlan* plan = nullptr;
  const PaddedPicture* current = nullptr;
  std::span<const std::uint8_t> original = {};   ///< what errors are measured against, in linear layout; empty: current
  const PaddedPicture* reference = nullptr;      ///< the previous reconstruction; not read in key frames
  PaddedPicture* reconstruction = nullptr;       ///< not the reference
  FrameSyntax* syntax = nullptr;
  const FrameSyntax* previous = nullptr;        ///< of the frame before; not read in key frames
  const InheritedVectors* inherited = nullptr;  ///< what unpredicted blocks inherit; null where the reference advances
  Searchers* searchers = nullptr;
  RateCoder* rate = nullptr;  ///< that has begun with the plan; null where the plan decides nothing by rate
  PaddedPicture* prediction = nullptr;           ///< filled where it is not null
  std::array<MotionField, kPlanes>* motion = nullptr;  ///< SADs filled where it is not null
};

/// Motion search, transform and reconstruction of frames as their plans say. MCU rows are independent of one
/// another within each step, so a caller may run them in any order and at the same time.
class FrameCoder {
 public:
  FrameCoder(const CodingSettings& settings, const Kernels& kernels);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  /// The tables of the plans of the frames to come.
  void set_tables(const QuantizationTables& tables);
  [[nodiscard]] Searchers make_searchers() const;

  // An inter frame is begun, has all its rows prepared, and is prepared; then its rows are searched. A row may be coded
  // when it has been searched; where the frame is decided by rate, when all have been.
  void begin_search(const FrameJob& job) const;
  void prepare_row(const FrameJob& job, int mcu_row) const;
  void prepare_search(const FrameJob& job) const;

  /// Finds the vectors of MCU row `mcu_row` of an inter frame; returns the sum of luma's SADs.
  [[nodiscard]] std::uint64_t search_row(const FrameJob& job, int mcu_row) const;
  /// Codes and reconstructs MCU row `mcu_row`. Blocks that inherit a vector have it in job.syntax afterwards, as if it were
  /// coded. Returns D + λR as RowDecider counts it; 0 where nothing is decided by rate.
  std::int64_t code_row(const FrameJob& job, int mcu_row) const;
  /// The squared error of MCU row `mcu_row` where the picture before is repeated, in all samples of the planes; weighted where
  /// decisions are.
  [[nodiscard]] static std::uint64_t repeat_error(const FrameJob& job, int mcu_row);
  /// The squared errors of the planes against the original, over the coded samples of MCU row `mcu_row`.
  [[nodiscard]] std::array<std::uint64_t, kPlanes> measure_row(const FrameJob& job, int mcu_row) const;

 private:
  /// Says of each block of an MCU row of a plane whether it has a vector, where the plan or the kind of frame decides it.
  static void begin_blocks(const FrameJob& job, int plane, int mcu_row);

  CodingSettings settings_;
  const Kernels& kernels_;
  Geometry geometry_;
  QuantizationTables tables_{};  ///< those of transforms_
  std::array<TransformTable, kPlanes> transforms_;
};

}  // namespace c63::cpu
