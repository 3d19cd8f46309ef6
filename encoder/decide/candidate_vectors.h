#pragma once

#include <array>
#include <cstddef>

#include "c63/motion_vector.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/search_window.h"
#include "decide/beam.h"

namespace c63 {

/// The vectors to try for a block, each once. There are at most kBeamCandidates - 1, because the block without
/// prediction is also a candidate.
class CandidateVectors {
 public:
  C63_HD constexpr CandidateVectors(const PlaneGeometry& geometry, int column, int row)
      : left_(-column * kBlockSize),
        top_(-row * kBlockSize),
        width_(static_cast<unsigned>(geometry.width - kBlockSize)),
        height_(static_cast<unsigned>(geometry.height - kBlockSize)) {}

  /// Adds a vector, if the list is not full and the vector is legal for the block (vector_is_legal()).
  C63_HD constexpr void add(MotionVector vector) {
    const bool legal = static_cast<unsigned>(vector.x - left_) <= width_ && static_cast<unsigned>(vector.y - top_) <= height_;
    if (count_ == kCapacity || !legal) return;
    for (std::size_t i = 0; i < count_; ++i) {
      if (vectors_[i] == vector) return;
    }
    vectors_[count_++] = vector;
  }

  [[nodiscard]] C63_HD constexpr std::size_t count() const { return count_; }
  [[nodiscard]] C63_HD constexpr MotionVector operator[](std::size_t index) const { return vectors_[index]; }

 private:
  static constexpr std::size_t kCapacity = kBeamCandidates - 1;

  int left_;  ///< x of the leftmost legal vector; legal ones go up to left_ + width_
  int top_;
  unsigned width_;
  unsigned height_;
  std::array<MotionVector, kCapacity> vectors_{};
  std::size_t count_ = 0;
};

/// Returns the vectors to try for a block, in this order: the best one found for it; those chosen for its left, right,
/// upper and lower neighbours; the zero vector; the others found for it. `chosen` has the vector that the search chose
/// for each block of the plane. `found` has `found_count` vectors that the search found for this block, best first.
/// `List` is CandidateVectors or a type with the same functions.
template <typename List = CandidateVectors>
[[nodiscard]] C63_HD constexpr List candidate_vectors(const PlaneGeometry& geometry, int column, int row,
                                                      const MotionVector* chosen, const MotionVector* found, int found_count) {
  List vectors(geometry, column, row);
  const int block = row * geometry.columns + column;
  vectors.add(found[0]);
  if (column > 0) vectors.add(chosen[block - 1]);
  if (column + 1 < geometry.columns) vectors.add(chosen[block + 1]);
  if (row > 0) vectors.add(chosen[block - geometry.columns]);
  if (row + 1 < geometry.rows) vectors.add(chosen[block + geometry.columns]);
  vectors.add({0, 0});
  for (int i = 1; i < found_count; ++i) vectors.add(found[i]);
  return vectors;
}

}  // namespace c63
