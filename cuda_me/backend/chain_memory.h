#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "c63/settings.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/lookahead/source_memory.h"
#include "cuda_me/runtime/carver.h"
#include "decide/lookahead_decisions.h"

namespace c63::cuda {

/// Frames that a chain can hold: three in the device's queue, one uploaded and waiting, one being uploaded, one being
/// read.
inline constexpr int kChainDepth = 6;
/// The most batches in the device's queue. One is coded. The scan of another is written and downloaded at the same
/// time. One waits, so that the device never waits for the host.
inline constexpr int kBatchesInFlight = 3;
// A frame's slot (its count modulo the depth) selects its place in every rotation of buffers.
static_assert(kChainDepth % 2 == 0 && kChainDepth % kBatchesInFlight == 0);

/// Outputs to keep besides the bytes of frames.
struct Keep {
  bool reconstruction = false;
  bool prediction = false;
  bool original = false;
  bool motion = false;
  bool host_reference = false;  ///< the reference picture goes to the host and back

  [[nodiscard]] bool any() const { return reconstruction || prediction || original || motion || host_reference; }
};

/// Properties that the parts of a backend share. Constant while the backend lives.
struct CodingContext {
  EncoderSettings settings;
  Geometry geometry;
  FrameLayout layout;
  Keep keep;
  LookaheadDecisions lookahead = {};
  RateDecisions rate = {};         ///< capacity in frames
  std::size_t coded_capacity = 0;  ///< bytes of a scan that the device writes to the host itself
};

/// A chain's arrays on the device. Zeroed once, because what lies past the coded samples of a picture must stay zero.
struct DeviceChain {
  /// The buffers of an uploaded frame.
  struct Input {
    std::uint8_t* picture = nullptr;
    std::uint8_t* original = nullptr;         ///< the original picture, if frames are filtered
    StepQuantizer* quantizers = nullptr;      ///< a QuantizerTable
    c63::Quantizer* decision_quantizers = nullptr;  ///< DecisionQuantizers
    Weight* weights = nullptr;                      ///< one for each MCU
  };
  std::array<Input, kChainDepth> inputs{};
  std::uint8_t* decided = nullptr;          ///< one for each block: 1 if decisions code it without a vector
  std::array<std::uint8_t*, 2> pictures{};  ///< the newest reconstruction and its reference; which is which changes
  std::uint8_t* prediction = nullptr;
  std::array<MotionVector*, 2> vectors{};  ///< of the newest frame and the previous one; which is which changes
  std::uint16_t* sads = nullptr;
  std::array<ScanParts, kBatchesInFlight> scans{};
  std::array<FrameState*, kBatchesInFlight> states{};
  SourceMemory source;  ///< used if frames are looked at before they are coded

  static DeviceChain carve(Carver& carver, const CodingContext& context);
};

/// A chain's arrays in page-locked host memory.
struct HostChain {
  /// The data of a plan, for the upload.
  struct Input {
    QuantizerTable* quantizers = nullptr;
    DecisionQuantizers* decision_quantizers = nullptr;
    Weight* weights = nullptr;
  };
  /// The results of one batch.
  struct Output {
    FrameReport* report = nullptr;
    std::uint8_t* coded = nullptr;
    std::uint8_t* reconstruction = nullptr;  ///< linear
    std::uint8_t* prediction = nullptr;      ///< linear
    std::uint8_t* original = nullptr;        ///< linear; the original, downloaded again
    MotionVector* vectors = nullptr;
    std::uint8_t* decided = nullptr;  ///< blocks without a vector
    std::uint16_t* sads = nullptr;
  };
  std::array<Input, kChainDepth> inputs{};
  std::array<Output, kBatchesInFlight> outputs{};
  std::uint8_t* reference = nullptr;  ///< of each picture
  SourceStaging source;

  static HostChain carve(Carver& carver, const CodingContext& context);
};

/// Frames of page-locked memory for all input: 48 MiB of them, at least two, at most as many as chains hold. More gain
/// nothing, and a driver takes 0.3 ms to allocate a MiB.
[[nodiscard]] int staging_frames(const Geometry& geometry, int chains);

/// Device memory that the driver uses for the graphs of a chain.
inline constexpr std::size_t kGraphBytes = 4U << 20;

/// Capacity for a coded scan that the device writes directly to the host. Noise needs more. The host then fetches the
/// bits of such a scan and stuffs them itself.
[[nodiscard]] std::size_t usual_coded_capacity(const Geometry& geometry);

}  // namespace c63::cuda
