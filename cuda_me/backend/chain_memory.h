#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "c63/settings.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/lookahead/source_frames.h"
#include "cuda_me/runtime/memory.h"
#include "decide/presets.h"

namespace c63::cuda {

/// The number of frames that a chain can hold: three in the device's queue, one uploaded and waiting, one being
/// uploaded, and one being read from the source.
inline constexpr int kChainDepth = 6;
/// The most batches in the device's queue. One is coded. The scans of another are written and downloaded at the same
/// time. A third waits, so that the device never waits for the host.
inline constexpr int kBatchesInFlight = 3;
// A CUDA graph of a slot (FrameGraphs) always uses the same buffers. Of some buffers, a chain has only two or
// kBatchesInFlight, and takes them in turn. So both numbers must divide the number of slots, kChainDepth.
static_assert(kChainDepth % 2 == 0 && kChainDepth % kBatchesInFlight == 0);

/// The outputs that are downloaded in addition to the coded bytes of frames.
struct Keep {
  bool reconstruction = false;
  bool prediction = false;
  bool original = false;
  bool motion = false;
  bool host_reference = false;  ///< the reference picture is copied to the host and back, to compare speeds

  [[nodiscard]] bool any() const { return reconstruction || prediction || original || motion || host_reference; }
};

/// Properties that the parts of a backend share. They do not change.
struct CodingContext {
  EncoderSettings settings;
  Geometry geometry;
  FrameLayout layout;
  Keep keep;
  LookaheadDecisions lookahead = {};
  RateDecisions rate = {};         ///< memory for decisions like these is reserved from the start
  std::size_t coded_capacity = 0;  ///< the largest scan in bytes that the device writes directly to the host
};

/// A chain's arrays on the device. All are set to zero at first: an upload writes only the coded samples of a plane,
/// and the samples after them must be zero.
struct DeviceChain {
  /// The buffers of an uploaded frame.
  struct Input {
    std::uint8_t* picture = nullptr;
    std::uint8_t* original = nullptr;         ///< the unfiltered picture, if frames are filtered
    StepQuantizer* quantizers = nullptr;      ///< a QuantizerTable
    c63::Quantizer* decision_quantizers = nullptr;  ///< DecisionQuantizers
    Weight* weights = nullptr;                      ///< one for each MCU
  };
  std::array<Input, kChainDepth> inputs{};
  std::uint8_t* decided = nullptr;          ///< one per block; 1: it is decided that the block has no vector
  std::array<std::uint8_t*, 2> pictures{};  ///< the newest reconstruction and its reference; they change places
  std::uint8_t* prediction = nullptr;
  std::array<MotionVector*, 2> vectors{};  ///< vectors of the newest frame and of the previous one; they change places
  std::uint16_t* sads = nullptr;
  std::array<ScanParts, kBatchesInFlight> scans{};
  std::array<FrameState*, kBatchesInFlight> states{};
  SourceMemory source;  ///< only with look-ahead

  static DeviceChain carve(Carver& carver, const CodingContext& context);
};

/// A chain's arrays in page-locked host memory.
struct HostChain {
  /// The buffers from which a plan's data is uploaded.
  struct Input {
    QuantizerTable* quantizers = nullptr;
    DecisionQuantizers* decision_quantizers = nullptr;
    Weight* weights = nullptr;
  };
  /// The results of the chain's frame in one batch.
  struct Output {
    FrameReport* report = nullptr;
    std::uint8_t* coded = nullptr;
    std::uint8_t* reconstruction = nullptr;  ///< without padding
    std::uint8_t* prediction = nullptr;      ///< without padding
    std::uint8_t* original = nullptr;        ///< the unfiltered picture, downloaded; without padding
    MotionVector* vectors = nullptr;
    std::uint8_t* decided = nullptr;  ///< one per block; 1: has no vector
    std::uint16_t* sads = nullptr;
  };
  std::array<Input, kChainDepth> inputs{};
  std::array<Output, kBatchesInFlight> outputs{};
  std::uint8_t* reference = nullptr;  ///< the reference picture, if Keep::host_reference
  SourceStaging source;

  static HostChain carve(Carver& carver, const CodingContext& context);
};

/// The number of page-locked frames for input: as many as fit in 48 MiB, but at least two, and not more than
/// kChainDepth per chain. More frames would not make encoding faster, and a driver takes 0.3 ms to allocate a MiB.
[[nodiscard]] int staging_frames(const Geometry& geometry, int chains);

/// The device memory that the driver uses for a chain's graphs, in bytes.
inline constexpr std::size_t kGraphBytes = 4U << 20;

/// The bytes reserved for a scan that the device writes directly to the host. Scans of noise are larger. The host then
/// downloads the bits of such a scan and stuffs the bytes itself.
[[nodiscard]] std::size_t usual_coded_capacity(const Geometry& geometry);

}  // namespace c63::cuda
