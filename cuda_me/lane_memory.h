#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c63/settings.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/frame_layout.h"

namespace c63::cuda {

/// Frames that a lane can hold: three on the device's queue, one uploaded and waiting, one on its way up, one being read.
inline constexpr int kLaneDepth = 6;
/// Batches of a group of lanes that the device has to do at most: one that is coded, one whose scan is written and goes
/// out beside it, and one behind them, so that the device never waits for the host.
inline constexpr int kBatchesInFlight = 3;

/// Cuts arrays off a block of memory; with no block it only adds up what they take.
class Carver {
 public:
  explicit Carver(std::byte* base = nullptr) : base_(base) {}

  template <typename T>
  T* take(std::size_t count) {
    T* const at = base_ != nullptr ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ += aligned(count * sizeof(T));
    return at;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

/// What is kept of frames besides their bytes.
struct Keep {
  bool reconstruction = false;
  bool prediction = false;
  bool original = false;
  bool motion = false;
  bool levels = false;          ///< the host writes the codes
  bool host_reference = false;  ///< the reference picture travels to the host and back

  [[nodiscard]] bool any() const { return reconstruction || prediction || original || motion || levels || host_reference; }
};

/// A lane's arrays on the device. Zeroed once: what lies behind the coded samples of a picture stays zero.
struct DeviceLane {
  std::array<std::uint8_t*, kLaneDepth> inputs{};
  std::array<std::uint8_t*, 2> pictures{};  ///< reconstruction and reference, in turns
  std::uint8_t* prediction = nullptr;
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;
  std::array<ScanParts, kBatchesInFlight> scans{};
  std::array<FrameState*, kBatchesInFlight> states{};

  static DeviceLane carve(Carver& carver, const FrameLayout& layout, const Keep& keep, std::size_t coded_capacity);
};

/// A lane's arrays in page-locked host memory.
struct HostLane {
  /// What one batch leaves behind.
  struct Output {
    FrameReport* report = nullptr;
    std::uint8_t* coded = nullptr;
    std::uint8_t* reconstruction = nullptr;  ///< linear
    std::uint8_t* prediction = nullptr;      ///< linear
    std::uint8_t* original = nullptr;        ///< linear; what was encoded, back again
    MotionVector* vectors = nullptr;
    std::uint16_t* sads = nullptr;
    std::int16_t* levels = nullptr;  ///< 64 a block, zig-zag order, in coding order
  };
  std::array<Output, kBatchesInFlight> outputs{};
  std::uint8_t* reference = nullptr;  ///< a picture

  static HostLane carve(Carver& carver, const Geometry& geometry, const FrameLayout& layout, const Keep& keep,
                        std::size_t coded_capacity);
};

/// Frames of page-locked memory through which all input of a group of lanes goes: 48 MiB of them, at least two, at most as
/// many as lanes hold. More gain nothing, and a driver takes 0.3 ms to allocate a MiB.
[[nodiscard]] int staging_frames(const Geometry& geometry, int lanes);

/// Device memory that the driver takes for the graphs of a lane.
inline constexpr std::size_t kGraphBytes = 4U << 20;

/// Room for a coded scan that is written straight to the host. Noise needs more than this; what does not fit is fetched
/// from the device as bits and stuffed here.
[[nodiscard]] std::size_t usual_coded_capacity(const Geometry& geometry);

}  // namespace c63::cuda
