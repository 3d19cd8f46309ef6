#pragma once

#include <cstdint>

#include "codec/quantization.h"

namespace c63::test {

/// A quantization table with one step for all coefficients.
[[nodiscard]] inline QuantizationTable flat(int step) {
  QuantizationTable table;
  table.fill(static_cast<std::uint8_t>(step));
  return table;
}

}  // namespace c63::test
