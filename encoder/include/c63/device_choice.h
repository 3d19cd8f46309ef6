#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "c63/settings.h"

namespace c63 {

// How `auto` chooses between the CPU and a GPU. It decides once, before the first frame: the CPU's time is estimated from
// the work, and a GPU is worth its start only if the CPU needs longer than that. Equal bytes come out either way.

/// Estimates how long the CPU needs to encode `frames` frames, in ms. Empty if their number is unknown. `threads` is
/// the number of threads; 0: one per CPU.
[[nodiscard]] std::optional<double> cpu_ms_to_encode(const CodingSettings& coding, std::optional<std::int64_t> frames, int threads);
/// The same to decode a stream of `bytes` bytes.
[[nodiscard]] std::optional<double> cpu_ms_to_decode(std::optional<std::uint64_t> bytes, int threads);
/// The same to search the motion of every block of `frames` frames of `width` x `height` luma samples.
[[nodiscard]] std::optional<double> cpu_ms_to_search(int width, int height, std::optional<std::int64_t> frames, int threads);

/// The device that `auto` chose.
struct DeviceChoice {
  bool gpu = false;
  std::string reason;  ///< one line for people: what was chosen, and why
};

/// Chooses a GPU if the CPU would need longer than a GPU needs to start. Chooses the CPU if `cpu_ms` is empty.
[[nodiscard]] DeviceChoice choose_device(std::optional<double> cpu_ms);

}  // namespace c63
