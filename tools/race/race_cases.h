#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "c63/picture.h"

namespace c63::race {

/// A test case for searches: two planes with their pitches, and the bytes between rows.
struct RaceCase {
  std::string name;  ///< such as "natural 88x72 U"
  std::string content;
  int plane = 0;  ///< 0: Y, 1: U, 2: V
  int range = 16;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> current;  ///< `height` rows of `current_pitch` bytes
  std::vector<std::uint8_t> reference;
  int current_pitch = 0;
  int reference_pitch = 0;

  [[nodiscard]] ConstPlaneView current_view() const { return {current.data(), width, height, current_pitch}; }
  [[nodiscard]] ConstPlaneView reference_view() const { return {reference.data(), width, height, reference_pitch}; }
  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(width / 8) * static_cast<std::size_t>(height / 8);
  }

  /// Fills the bytes between rows with other values. The results must not change.
  void change_padding(std::uint32_t seed);
};

/// Returns all cases: each combination of size, content and range that is tested. Samples depend only on `seed`.
/// `range` is that of luma. Widths and heights are divided by `part`.
[[nodiscard]] std::vector<RaceCase> race_cases(std::uint32_t seed, int range = 16, int part = 1);

/// Returns a moving picture for a timed run, with sides that are up to 8 samples longer or shorter.
[[nodiscard]] RaceCase timed_case(int width, int height, int range, std::uint32_t seed);

}  // namespace c63::race
