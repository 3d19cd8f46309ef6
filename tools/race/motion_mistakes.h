#pragma once

#include <optional>
#include <span>

#include "c63/motion_vector.h"
#include "c63/picture.h"

namespace c63 {

/// The samples and settings with which one block is searched.
struct SearchedBlock {
  ConstPlaneView current;
  ConstPlaneView reference;
  int range = 0;  ///< the plane's range, in samples
  int column = 0;
  int row = 0;
  std::span<const MotionVector> previous;  ///< the exact result of the previous call for this plane; may be empty
  std::span<const MotionVector> exact;     ///< the exact result for this plane
};

/// A mistake that programmers often make in a motion search.
struct MotionMistake {
  const char* id;
  const char* text;  ///< advice: where a person should look
  /// Returns the vector that a search with this mistake finds for the block; empty if the mistake cannot be tried on
  /// the block.
  std::optional<MotionVector> (*find)(const SearchedBlock& block);
};

/// All known mistakes. Of mistakes that give the same vectors, the first is the most likely.
[[nodiscard]] std::span<const MotionMistake> motion_mistakes();

}  // namespace c63
