#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "codec/geometry.h"
#include "codec/quantization.h"

namespace c63 {

/// A frame for a device to decode.
struct FrameToDecode {
  std::span<const std::uint8_t> scan;  ///< with stuffing, no longer than its picture can take; stays until the frame is popped
  QuantizationTables tables{};
  bool key = false;
  bool repeat = false;              ///< nothing is coded: the picture of the frame before once more
  bool advances_reference = true;   ///< false: it takes the place of the frame before, whose reference it shares
  bool wanted = true;               ///< false: its picture is needed as a reference alone
};

/// A frame that a device has decoded, or has found not to be fine: what is wrong with it, others say.
struct FrameOfDevice {
  bool fine = true;
  std::array<std::span<const std::uint8_t>, kPlanes> planes;  ///< linear; empty where the frame is not wanted
};

/// Calls body(0) … body(count - 1), side by side where it can.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

/// A device that decodes the frames of a stream: a GPU. Frames go in in order of the stream and come out in it; after one that
/// is not fine nothing comes but clear(). For one thread, and one stream at a time. Any call may throw Error (device).
class DecodeBackend {
 public:
  virtual ~DecodeBackend() = default;

  /// For people: "cuda:0 NVIDIA H200 (sm_90)".
  [[nodiscard]] virtual const std::string& description() const = 0;

  /// Gets ready for pictures of one size; the next frame is a key frame. Memory of the host and of the device together stays
  /// within `max_memory` bytes. Throws Error (limit) where not one frame fits.
  virtual void open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) = 0;

  /// Whether submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  virtual void submit(const FrameToDecode& frame) = 0;

  /// Whether the first of the frames submitted, of which there is one, is finished.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// That frame. Waits for it. What it shows stays until pop().
  [[nodiscard]] virtual const FrameOfDevice& front() = 0;
  virtual void pop() = 0;

  /// Drops what was submitted and not popped. A key frame is next.
  virtual void clear() noexcept = 0;
};

}  // namespace c63
