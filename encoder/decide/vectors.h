#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "c63/error.h"
#include "c63/motion_vector.h"
#include "codec/bit_cost.h"
#include "codec/geometry.h"
#include "codec/host_device.h"
#include "codec/search_window.h"
#include "decide/beam.h"
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
[[nodiscard]] C63_HD constexpr CandidateVectors candidate_vectors(const PlaneGeometry& geometry, int column, int row,
                                                      const MotionVector* chosen, const MotionVector* found, int found_count) {
  CandidateVectors vectors(geometry, column, row);
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

/// The value that all vectors have before a user's own search runs: all bytes are 0x80. No candidate has it: components
/// of vectors are at least -127.
inline constexpr MotionVector kNotWritten{-128, -128};

/// Returns true if a vector of a user's own search (c63/user_search.h) is a candidate of its block, or the zero vector.
/// The zero vector can always be coded.
[[nodiscard]] C63_HD constexpr bool user_vector_is_right(int column, int row, int width, int height, int range, MotionVector vector) {
  const SearchWindow window = search_window(column, row, width, height, range);
  if (vector.x == 0 && vector.y == 0) return true;
  if (window.empty()) return false;
  const int x = column * kBlockSize + vector.x;
  const int y = row * kBlockSize + vector.y;
  return x >= window.left && x < window.right && y >= window.top && y < window.bottom;
}

/// Returns the error for a vector that user_vector_is_right() rejects. `name` is the name of the search that gave it.
[[nodiscard]] Error user_vector_error(const std::string& name, int plane, int column, int row, int width, int height, int range,
                                     MotionVector vector);

}  // namespace c63
