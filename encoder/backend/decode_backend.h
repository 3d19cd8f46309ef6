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
  /// with stuffing, not longer than its picture can take; valid until the frame is popped
  std::span<const std::uint8_t> scan;
  QuantizationTables tables{};
  bool key = false;
  bool repeat = false;             ///< nothing is coded: the previous picture once more
  bool advances_reference = true;  ///< false: it takes the place of the previous frame, whose reference it shares
  bool wanted = true;              ///< false: its picture is needed only as a reference
};

/// A frame that a device has decoded, or has found to be invalid. Other code finds the error of an invalid one.
struct FrameOfDevice {
  bool fine = true;
  std::array<std::span<const std::uint8_t>, kPlanes> planes;  ///< linear; empty if the frame is not wanted
};

/// Calls body(0) … body(count - 1), in parallel if possible.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

/// A device that decodes the frames of a stream: a GPU. Frames come out in the order in which they go in. After an
/// invalid frame only clear() may be called. For one thread, and one stream at a time. Any call may throw Error
/// (device).
class DecodeBackend {
 public:
  virtual ~DecodeBackend() = default;

  /// For people: "cuda:0 NVIDIA H200 (sm_90)".
  [[nodiscard]] virtual const std::string& description() const = 0;

  /// Prepares for pictures of one size. The next frame must be a key frame. Memory of host and device together stays
  /// within `max_memory` bytes. Throws Error (limit) if not even one frame fits.
  virtual void open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) = 0;

  /// Returns true if submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  virtual void submit(const FrameToDecode& frame) = 0;

  /// Returns true if the first submitted frame is finished. At least one must be submitted.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// Waits for the first submitted frame and returns it. Its pictures stay valid until pop().
  [[nodiscard]] virtual const FrameOfDevice& front() = 0;
  virtual void pop() = 0;

  /// Drops all submitted frames that were not popped. The next frame must be a key frame.
  virtual void clear() noexcept = 0;
};

}  // namespace c63
