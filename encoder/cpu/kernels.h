#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "c63/picture.h"
#include "c63/settings.h"
#include "codec/quantization.h"
#include "codec/search_window.h"

namespace c63::cpu {

/// The best candidate of a block: its position in the reference plane, and its SAD.
struct BestCandidate {
  int x = 0;
  int y = 0;
  std::uint32_t sad = 0;
};

/// One block to search: its samples, and where it may come from. The window is not empty.
struct BlockSearch {
  const std::uint8_t* current = nullptr;
  std::ptrdiff_t current_pitch = 0;
  ConstPlaneView reference;
  SearchWindow window;
};

/// Bytes that must be readable before and behind every plane given to a kernel; what is in them does not matter.
inline constexpr std::size_t kPlaneGuard = 64;

/// The functions that exist once per instruction set. All of them give the same results, bit for bit.
struct Kernels {
  SimdLevel level;

  /// Exhaustive search: the first minimum in raster order.
  BestCandidate (*search_full)(const BlockSearch& block);

  /// Residual, forward transform and quantization of one block of `plane`; levels in zig-zag order.
  void (*code_block)(const std::uint8_t* current, std::ptrdiff_t current_pitch, const std::uint8_t* prediction,
                     std::ptrdiff_t prediction_pitch, const QuantizationTable& steps, int plane,
                     std::int16_t levels[64]);

  /// Dequantization, inverse transform and reconstruction of one block.
  void (*restore_block)(const std::int16_t levels[64], const QuantizationTable& steps, const std::uint8_t* prediction,
                        std::ptrdiff_t prediction_pitch, std::uint8_t* reconstruction,
                        std::ptrdiff_t reconstruction_pitch);

  /// Sum of squared differences of `count` samples.
  std::uint64_t (*squared_error)(const std::uint8_t* a, const std::uint8_t* b, std::size_t count);
};

/// The kernels of `level`, or the best this machine has. Throws Error (usage) for a level it has not.
[[nodiscard]] const Kernels& kernels(std::optional<SimdLevel> level = {});

/// The definition of correct.
[[nodiscard]] const Kernels& scalar_kernels();

}  // namespace c63::cpu
