#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "codec/bit_cost.h"
#include "codec/host_device.h"
#include "decide/cost.h"

namespace c63 {

/// The cost of vectors in a search: the price of their bits, in units of SAD. A SAD is at most 16,320 and the cost of a
/// vector at most 538, so their sum fits in 16 bits.
struct VectorCosts {
  std::array<std::uint16_t, 256> components{};  ///< cost of each component value; index value + 128

  VectorCosts() = default;
  /// `sad_per_bit` has 8 fraction bits.
  constexpr explicit VectorCosts(std::int32_t sad_per_bit) {
    for (int value = -127; value <= 127; ++value) {
      components[static_cast<std::size_t>(value + 128)] =
          static_cast<std::uint16_t>((sad_per_bit * vector_component_bits(value) + 128) >> 8);
    }
  }

  [[nodiscard]] C63_HD constexpr std::uint32_t of(int x, int y) const {
    return std::uint32_t{components[static_cast<std::size_t>(x + 128)]} + components[static_cast<std::size_t>(y + 128)];
  }
};

/// Returns the SAD that one bit of a vector is worth: 0.7·√λ, with 8 fraction bits. λ is the price of a bit as a
/// squared error. A SAD is not squared, so the root is taken.
[[nodiscard]] inline std::int32_t sad_per_bit(Cost lambda) {
  return static_cast<std::int32_t>(std::lround(0.7 * std::sqrt(lambda / 256.0) * 256.0));
}

}  // namespace c63
