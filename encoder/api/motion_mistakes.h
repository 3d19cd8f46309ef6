#pragma once

#include <optional>
#include <span>

#include "c63/motion_vector.h"
#include "c63/picture.h"

namespace c63 {

/// One block as a search sees it.
struct SearchedBlock {
  ConstPlaneView current;
  ConstPlaneView reference;
  int range = 0;  ///< of the plane
  int column = 0;
  int row = 0;
  std::span<const MotionVector> previous;  ///< the result of the call before; may be empty
  std::span<const MotionVector> exact;     ///< of the plane
};

/// A mistake that searches are known to have.
struct MotionMistake {
  const char* id;
  const char* text;  ///< what a person should look at
  /// What a search with the mistake finds; empty if the mistake cannot be tried on the block.
  std::optional<MotionVector> (*find)(const SearchedBlock& block);
};

/// All known mistakes; of those that explain the same, the first is the likelier.
[[nodiscard]] std::span<const MotionMistake> motion_mistakes();

}  // namespace c63
