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
  /// The scan with stuffing, no longer than largest_scan() (bitstream/frame_header.h). The memory must be valid until
  /// the frame is popped.
  std::span<const std::uint8_t> scan;
  QuantizationTables tables{};
  bool key = false;
  bool repeat = false;             ///< nothing is coded: the previous picture is shown again
  /// False: the frame is predicted from the same reference as the previous frame, and its picture replaces the previous
  /// picture.
  bool advances_reference = true;
  bool wanted = true;              ///< false: the picture is only needed as a reference
};

/// A frame that a device has decoded. `is_valid` is false if the coded frame is invalid; the CPU's decoder then finds
/// the error.
struct FrameOfDevice {
  bool is_valid = true;
  /// The samples of each plane of the frame, in linear layout, without padding; empty if `wanted` was false.
  std::array<std::span<const std::uint8_t>, kPlanes> planes;
};

/// Calls body(0) … body(count - 1), in parallel if possible.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

/// A device that decodes the frames of a stream: a GPU. Frames are returned in the order in which they are submitted.
/// After an invalid frame, only clear() may be called. It decodes one stream at a time and is used by one thread. Any
/// call except clear() may throw Error (device).
class DecodeBackend {
 public:
  virtual ~DecodeBackend() = default;

  /// The device's name for people: "cuda:0 NVIDIA H200 (sm_90)".
  [[nodiscard]] virtual const std::string& description() const = 0;

  /// Prepares for pictures of one size. The next frame must be a key frame. Host memory and device memory together stay
  /// within `max_memory` bytes. Throws Error (limit) if not even one frame fits.
  virtual void open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) = 0;

  /// Returns true if submit() may be called.
  [[nodiscard]] virtual bool has_room() const = 0;
  virtual void submit(const FrameToDecode& frame) = 0;

  /// Returns true if the first submitted frame is finished. At least one frame must be submitted.
  [[nodiscard]] virtual bool is_ready() = 0;
  /// Waits for the first submitted frame and returns it. Its pictures stay valid until pop().
  [[nodiscard]] virtual const FrameOfDevice& front() = 0;
  virtual void pop() = 0;

  /// Drops all submitted frames that were not popped. The next frame must be a key frame.
  virtual void clear() noexcept = 0;
};

}  // namespace c63
