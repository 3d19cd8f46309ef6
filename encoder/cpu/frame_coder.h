#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bitstream/frame_symbols.h"
#include "c63/encoder.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"

namespace c63::cpu {

/// Everything that the stages of one frame read and write.
struct FrameJob {
  bool key = false;
  const PaddedPicture* current = nullptr;
  const PaddedPicture* reference = nullptr;      ///< the previous reconstruction; not read in key frames
  PaddedPicture* reconstruction = nullptr;       ///< not the reference
  FrameSymbols* symbols = nullptr;
  PaddedPicture* prediction = nullptr;           ///< filled where it is not null
  std::array<MotionField, kPlanes>* motion = nullptr;  ///< SADs filled where it is not null
};

/// Motion search, transform and reconstruction of frames with fixed settings. Rows of macroblocks are independent of one
/// another, so a caller may run them in any order and at the same time.
class FrameCoder {
 public:
  FrameCoder(const EncoderSettings& settings, const Kernels& kernels);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const QuantizationTables& tables() const { return tables_; }

  /// Finds the vectors of MCU row `mcu_row` of an inter frame; returns the sum of luma's SADs.
  std::uint64_t search_row(const FrameJob& job, int mcu_row) const;
  /// Codes and reconstructs MCU row `mcu_row`, whose vectors are known.
  void code_row(const FrameJob& job, int mcu_row) const;

 private:
  EncoderSettings settings_;
  const Kernels& kernels_;
  Geometry geometry_;
  QuantizationTables tables_;
};

}  // namespace c63::cpu
