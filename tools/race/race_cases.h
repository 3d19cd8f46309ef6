#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "c63/picture.h"

namespace c63::race {

/// One search that an entrant must get right: two planes with their pitches, and the memory around them.
struct RaceCase {
  std::string name;  ///< "natural 88x72 U"
  std::string content;
  int plane = 0;  ///< 0 Y, 1 U, 2 V
  int range = 16;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> current;  ///< height rows of current_pitch bytes
  std::vector<std::uint8_t> reference;
  int current_pitch = 0;
  int reference_pitch = 0;

  [[nodiscard]] ConstPlaneView current_view() const { return {current.data(), width, height, current_pitch}; }
  [[nodiscard]] ConstPlaneView reference_view() const { return {reference.data(), width, height, reference_pitch}; }
  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(width / 8) * static_cast<std::size_t>(height / 8);
  }

  /// Fills the bytes between rows with other values. No result may depend on them.
  void change_padding(std::uint32_t seed);
};

/// All cases: every size, content and range. The samples depend on `seed` alone. `range` is that of luma.
[[nodiscard]] std::vector<RaceCase> race_cases(std::uint32_t seed, int range = 16);

/// A plane of a moving picture for timed runs: frame `index` of a texture that moves and changes.
[[nodiscard]] std::vector<std::uint8_t> moving_texture(int width, int height, int index, std::uint32_t seed);

}  // namespace c63::race
