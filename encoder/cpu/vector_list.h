#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "c63/motion_vector.h"
#include "codec/geometry.h"
#include "decide/beam.h"

namespace c63::cpu {

/// Does what CandidateVectors does, without a branch. A branch would often be predicted wrongly, because it is
/// unpredictable whether a vector is already in the list.
class VectorList {
 public:
  VectorList(const PlaneGeometry& geometry, int column, int row)
      : left_(-column * kBlockSize),
        top_(-row * kBlockSize),
        width_(static_cast<unsigned>(geometry.width - kBlockSize)),
        height_(static_cast<unsigned>(geometry.height - kBlockSize)) {
    numbers_.fill(kNone);
  }

  void add(MotionVector vector) {
    const auto number = std::bit_cast<std::uint16_t>(vector);
    unsigned equal = 0;
    for (const std::uint16_t other : numbers_) equal += other == number ? 1 : 0;
    const unsigned legal = static_cast<unsigned>(static_cast<unsigned>(vector.x - left_) <= width_) &
                           static_cast<unsigned>(static_cast<unsigned>(vector.y - top_) <= height_);
    // A number is always written; numbers_ has one entry more than the list needs. If the vector does not count, the
    // next vector overwrites the entry.
    const bool counts = (legal & static_cast<unsigned>(equal == 0) & static_cast<unsigned>(count_ < kCapacity)) != 0;
    numbers_[count_] = counts ? number : kNone;
    count_ += counts ? 1 : 0;
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] MotionVector operator[](std::size_t index) const { return std::bit_cast<MotionVector>(numbers_[index]); }

 private:
  static constexpr std::size_t kCapacity = kBeamCandidates - 1;
  static constexpr std::uint16_t kNone = 0x8080;  ///< (-128, -128), which is never a vector

  int left_;
  int top_;
  unsigned width_;
  unsigned height_;
  std::array<std::uint16_t, kCapacity + 1> numbers_;
  std::size_t count_ = 0;
};

}  // namespace c63::cpu
