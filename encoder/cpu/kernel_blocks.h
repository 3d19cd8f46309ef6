#pragma once

#include <cstddef>
#include <cstdint>

#include "c63/picture.h"
#include "codec/search_window.h"

// The inputs and results of kernels.

namespace c63::cpu {

/// The best candidate of a block: its position in the reference plane, and its SAD.
struct BestCandidate {
  int x = 0;
  int y = 0;
  std::uint32_t sad = 0;
};

/// A candidate: the position of a block in the reference plane.
struct Position {
  int x = 0;
  int y = 0;
};

/// A block to search: its samples, the reference, and the window of candidates, which is not empty.
struct BlockSearch {
  const std::uint8_t* current = nullptr;
  std::ptrdiff_t current_pitch = 0;
  ConstPlaneView reference;
  SearchWindow window;
};

/// For every position (x, y) of a plane, the sum of the 4x4 samples with that upper left corner, 0..4080. The sum is at
/// data[y·pitch + x] for x <= width-4 and y <= height-4. Other entries are readable, but undefined.
struct SumsView {
  const std::uint16_t* data = nullptr;
  std::ptrdiff_t pitch = 0;

  [[nodiscard]] const std::uint16_t* at(int x, int y) const { return data + y * pitch + x; }
};

/// The samples that predict one 8x8 block.
struct BlockPrediction {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;  ///< 0: no prediction, and `samples` is one row of zeros
};

}  // namespace c63::cpu
