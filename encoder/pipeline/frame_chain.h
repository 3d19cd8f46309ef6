#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "bitstream/frame_header.h"
#include "bitstream/frame_syntax.h"
#include "bitstream/inherited_vectors.h"
#include "c63/decoder.h"
#include "c63/trace.h"
#include "cpu/kernels.h"
#include "cpu/padded_picture.h"

namespace c63 {

/// Decodes a chain of dependent frames, key frame first, one after another.
class FrameChain {
 public:
  explicit FrameChain(const DecoderSettings& settings)
      : keep_prediction_(settings.keep_prediction),
        keep_motion_(settings.keep_motion),
        kernels_(cpu::kernels(settings.execution.simd)) {}

  /// Decodes one frame, number `index` of the stream, and tells `trace` about it. Samples and vectors are handed out where
  /// the frame is `wanted`. index and offset of the result are left to the caller.
  /// Throws Error (input) with offsets from the start of the frame; only a key frame may follow then.
  [[nodiscard]] DecodedFrame decode(const ParsedFrame& frame, std::int64_t index, bool wanted, TraceRow& trace);

  /// Bytes that a chain of this geometry holds.
  [[nodiscard]] static std::uint64_t memory(const Geometry& geometry) { return 6 * geometry.padded_samples(); }

 private:
  void allocate(const Geometry& geometry);
  void reconstruct(const ParsedFrame& frame, std::int64_t index, TraceRow& trace);
  void hand_out(const ParsedFrame& frame, DecodedFrame& out) const;

  bool keep_prediction_;
  bool keep_motion_;
  const cpu::Kernels& kernels_;
  std::optional<Geometry> geometry_;
  FrameSyntax syntax_;  ///< of the last frame that was no repeat
  InheritedVectors inherited_;
  QuantizationTables tables_{};  ///< those of transforms_
  std::array<cpu::TransformTable, kPlanes> transforms_;
  std::array<cpu::PaddedPicture, 2> pictures_;
  int current_ = 0;  ///< index of the picture that was decoded last; the other one was its reference
  cpu::PaddedPicture prediction_;
  std::vector<std::uint8_t> scan_;
};

}  // namespace c63
