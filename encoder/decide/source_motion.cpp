#include "decide/source_motion.h"

#include <array>

#include "codec/search_window.h"

namespace c63 {
namespace {

/// The motion search of one block.
class Descent {
 public:
  Descent(const PlaneGeometry& geometry, ConstPlaneView current, ConstPlaneView reference, BlockSad sad, int column, int row)
      : geometry_(geometry),
        current_(current),
        reference_(reference),
        sad_(sad),
        column_(column),
        row_(row),
        best_cost_(sad_at({0, 0})) {
    best_cost_ -= best_cost_ < kStillBonus ? best_cost_ : kStillBonus;
  }

  /// Takes a vector as the best so far if its cost is lower. Returns true if it was taken.
  bool offer(int x, int y) {
    const bool sendable = x >= -127 && x <= 127 && y >= -127 && y <= 127;
    if (!sendable || !vector_is_legal(column_, row_, geometry_.width, geometry_.height, x, y)) return false;
    const MotionVector vector{static_cast<std::int8_t>(x), static_cast<std::int8_t>(y)};
    if (vector == best_ || vector == MotionVector{}) return false;
    const std::uint32_t cost = sad_at(vector);
    if (cost >= best_cost_) return false;
    best_ = vector;
    best_cost_ = cost;
    return true;
  }

  void go_down() {
    static constexpr std::array<std::array<int, 2>, 4> kAround = {{{0, -1}, {-1, 0}, {1, 0}, {0, 1}}};
    for (const int step : {2, 1}) {
      for (int i = 0; i < kMostSteps; ++i) {
        const MotionVector center = best_;
        for (const auto& [x, y] : kAround) offer(center.x + step * x, center.y + step * y);
        if (best_ == center) break;
      }
    }
  }

  [[nodiscard]] SourceBlock result() const {
    SourceBlock block{best_, 0};
    for (int y = 0; y < kBlockSize; ++y) {
      const std::uint8_t* const own = &current_.at(column_ * kBlockSize, row_ * kBlockSize + y);
      const std::uint8_t* const other = &reference_.at(column_ * kBlockSize + best_.x, row_ * kBlockSize + best_.y + y);
      for (int x = 0; x < kBlockSize; ++x) {
        const int difference = own[x] - other[x];
        block.squared_error += static_cast<std::uint32_t>(difference * difference);
      }
    }
    return block;
  }

 private:
  [[nodiscard]] std::uint32_t sad_at(MotionVector v) const {
    const int x = column_ * kBlockSize;
    const int y = row_ * kBlockSize;
    return sad_(&current_.at(x, y), current_.pitch, &reference_.at(x + v.x, y + v.y), reference_.pitch);
  }

  const PlaneGeometry& geometry_;
  ConstPlaneView current_;
  ConstPlaneView reference_;
  BlockSad sad_;
  int column_;
  int row_;
  MotionVector best_{};
  std::uint32_t best_cost_;
};

}  // namespace

SourceMotion find_source_motion(const PlaneGeometry& geometry, ConstPlaneView current, ConstPlaneView reference,
                                std::span<const MotionVector> hints, BlockSad sad) {
  SourceMotion motion(static_cast<std::size_t>(geometry.blocks()));
  for (int row = 0; row < geometry.rows; ++row) {
    for (int column = 0; column < geometry.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * geometry.columns + column);
      const auto above = block - static_cast<std::size_t>(geometry.columns);
      Descent descent(geometry, current, reference, sad, column, row);
      const auto offer = [&](MotionVector v) { descent.offer(v.x, v.y); };
      if (!hints.empty()) offer(hints[block]);
      if (column > 0) offer(motion[block - 1].vector);
      if (row > 0) offer(motion[above].vector);
      if (row > 0 && column + 1 < geometry.columns) offer(motion[above + 1].vector);
      descent.go_down();
      motion[block] = descent.result();
    }
  }
  return motion;
}

}  // namespace c63
