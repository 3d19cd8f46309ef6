#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "c63/settings.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/lookahead/source_frames.h"
#include "decide/resolved_encode.h"

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
struct CodingContext : ResolvedEncode {
  CodingContext(const ResolvedEncode& encode, const Keep& kept, std::size_t capacity)
      : ResolvedEncode(encode), layout(geometry), keep(kept), coded_capacity(capacity) {}

  FrameLayout layout;
  Keep keep;
  std::size_t coded_capacity;  ///< the largest scan in bytes that the device writes directly to the host
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

/// What a frame's plan requires of its GOP chain's buffers: which of them the frame reads and writes, and how.
struct FrameRole {
  bool key = false;
  /// True if rate and distortion decide the vectors, the levels, and which blocks have no vector.
  bool by_rate = false;
  bool is_weighted = false;      ///< the plan has weights
  bool has_original = false;     ///< the frame is filtered; errors are measured against its original
  /// True if the reference does not advance. The frame is then predicted from the previous frame's reference, and its
  /// reconstruction overwrites the previous frame's.
  bool inherits = false;
  int reconstruction = 0;        ///< the picture of the chain that the frame is reconstructed to

  friend bool operator==(const FrameRole&, const FrameRole&) = default;
};

/// A frame that a chain holds, from its input to its result.
struct FrameSlot {
  ChainFrame frame;
  FrameRole role;
  std::uint8_t* staging = nullptr;  ///< page-locked memory for its samples, until it is submitted
  std::int64_t upload = 0;          ///< number of the upload that contains the frame
  QuantizationTables tables{};      ///< the tables whose quantizers are in the device's memory for this slot
  QuantizationTables decision_tables{};  ///< the same for the decision quantizers
};

/// A GOP chain: its memory, and the frames that it holds.
struct Chain {
  DeviceChain device;
  HostChain host;
  std::array<FrameSlot, kChainDepth> slots;
  // Counters of frames. A frame's slot is its number modulo kChainDepth.
  std::int64_t added = 0;
  std::int64_t submitted = 0;  ///< handed over to the batch queue, which guards this counter and the next one
  std::int64_t launched = 0;
  int newest = 0;           ///< index of the picture to which the newest frame is reconstructed
  bool inter = false;       ///< the newest frame is an inter frame
  bool may_repeat = false;  ///< the newest frame may become a repeat of the previous one

  [[nodiscard]] FrameSlot& next_slot() { return slots[static_cast<std::size_t>(added % kChainDepth)]; }
};

/// Returns the role of the chain's next frame, and updates the members that describe the newest frame. Throws Error
/// (internal) if the plan's weights are not valid, or its reference is not possible: a frame with FrameRole::inherits
/// must be an inter frame. The frame before it must also be an inter frame, and one that cannot become a repeat.
[[nodiscard]] FrameRole advance(Chain& chain, const ChainFrame& frame, const FrameLayout& layout);

/// One frame of a batch.
struct BatchEntry {
  int number = 0;  ///< of the chain
  Chain* chain = nullptr;
  std::size_t slot = 0;

  [[nodiscard]] const FrameSlot& frame() const { return chain->slots[slot]; }
  [[nodiscard]] const DeviceChain::Input& input() const { return chain->device.inputs[slot]; }
};

/// Returns the work on one frame: its inputs and the places of its outputs. `outputs` is Batch::outputs.
[[nodiscard]] CodingJob job_of(const CodingContext& context, const Chain& chain, std::size_t slot, std::size_t outputs,
                               const FrameRole& role);

/// Adds the searches of all planes of an inter frame to `searches`.
void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches);

}  // namespace c63::cuda
