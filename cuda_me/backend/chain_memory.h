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

/// Frames that a chain can hold: three on the device's queue, one uploaded and waiting, one on its way up, one being read.
inline constexpr int kChainDepth = 6;
/// Batches that the device has to do at most: one that is coded, one whose scan is written and goes out at the same
/// time, and one after them, so that the device never waits for the host.
inline constexpr int kBatchesInFlight = 3;
// A frame's place in a chain (its count modulo the depth) says its place in every rotation of buffers.
static_assert(kChainDepth % 2 == 0 && kChainDepth % kBatchesInFlight == 0);

/// What is kept of frames besides their bytes.
struct Keep {
  bool reconstruction = false;
  bool prediction = false;
  bool original = false;
  bool motion = false;
  bool host_reference = false;  ///< the reference picture travels to the host and back

  [[nodiscard]] bool any() const { return reconstruction || prediction || original || motion || host_reference; }
};

/// What parts of a backend share. Stays as it is as long as the backend lives.
struct CodingContext {
  EncoderSettings settings;
  Geometry geometry;
  FrameLayout layout;
  Keep keep;
  LookaheadDecisions lookahead = {};
  RateDecisions rate = {};  ///< memory is reserved for
  std::size_t coded_capacity = 0;  ///< bytes of a scan that the device writes to the host by itself
};

/// A chain's arrays on the device. Zeroed once: what lies past the coded samples of a picture stays zero.
struct DeviceChain {
  /// What a frame is uploaded to.
  struct Input {
    std::uint8_t* picture = nullptr;
    std::uint8_t* original = nullptr;     ///< picture, where frames are filtered
    StepQuantizer* quantizers = nullptr;      ///< a QuantizerTable
    c63::Quantizer* decision_quantizers = nullptr;  ///< DecisionQuantizers
    Weight* weights = nullptr;            ///< one an MCU
  };
  std::array<Input, kChainDepth> inputs{};
  std::uint8_t* decided = nullptr;          ///< blocks without a vector where that is decided here, one a block
  std::array<std::uint8_t*, 2> pictures{};  ///< the newest reconstruction and its reference; which is which changes
  std::uint8_t* prediction = nullptr;
  std::array<MotionVector*, 2> vectors{};  ///< of the newest frame and the previous one; which is which changes
  std::uint16_t* sads = nullptr;
  std::array<ScanParts, kBatchesInFlight> scans{};
  std::array<FrameState*, kBatchesInFlight> states{};
  SourceMemory source;  ///< where frames are looked at before they are coded

  static DeviceChain carve(Carver& carver, const CodingContext& context);
};

/// A chain's arrays in page-locked host memory.
struct HostChain {
  /// What a plan says, on its way up.
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
    std::uint8_t* original = nullptr;        ///< linear; what was encoded, back again
    MotionVector* vectors = nullptr;
    std::uint8_t* decided = nullptr;  ///< blocks without a vector
    std::uint16_t* sads = nullptr;
  };
  std::array<Input, kChainDepth> inputs{};
  std::array<Output, kBatchesInFlight> outputs{};
  std::uint8_t* reference = nullptr;  ///< a picture
  SourceStaging source;

  static HostChain carve(Carver& carver, const CodingContext& context);
};

/// Frames of page-locked memory through which all input goes: 48 MiB of them, at least two, at most as many as chains hold.
/// More gain nothing, and a driver takes 0.3 ms to allocate a MiB.
[[nodiscard]] int staging_frames(const Geometry& geometry, int chains);

/// Device memory that the driver takes for the graphs of a chain.
inline constexpr std::size_t kGraphBytes = 4U << 20;

/// Room for a coded scan that is written straight to the host. Noise needs more than this; what does not fit is fetched
/// from the device as bits and stuffed here.
[[nodiscard]] std::size_t usual_coded_capacity(const Geometry& geometry);

}  // namespace c63::cuda
