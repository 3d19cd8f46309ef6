#include "c63/motion.h"

#include <oneapi/tbb/parallel_for.h>

#include <cstring>
#include <string>

#include "c63/error.h"
#include "cpu/search_method.h"

namespace c63 {
namespace {

/// A copy of a caller's plane with the margin that kernels read.
class GuardedCopy {
 public:
  explicit GuardedCopy(ConstPlaneView plane)
      : width_(plane.width), height_(plane.height),
        samples_(static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.height) + 2 * cpu::kPlaneGuard) {
    for (int y = 0; y < height_; ++y) {
      std::memcpy(samples_.data() + cpu::kPlaneGuard + static_cast<std::ptrdiff_t>(y) * width_, plane.row(y),
                  static_cast<std::size_t>(width_));
    }
  }
  [[nodiscard]] ConstPlaneView view() const { return {samples_.data() + cpu::kPlaneGuard, width_, height_, width_}; }

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> samples_;
};

void require(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

}  // namespace

MotionField estimate_motion(ConstPlaneView current, ConstPlaneView reference, int range, SearchMethod method) {
  require(current.data != nullptr && reference.data != nullptr, "C63-PLANE-NULL", "a plane without samples");
  require(current.width == reference.width && current.height == reference.height, "C63-PLANE-SIZE",
          "the planes differ in size");
  require(current.width > 0 && current.height > 0 && current.width % kBlockSize == 0 && current.height % kBlockSize == 0,
          "C63-PLANE-SIZE",
          "plane size " + std::to_string(current.width) + "x" + std::to_string(current.height) +
              ": both sides must be multiples of 8");
  require(range >= 1 && range <= 127, "C63-MERANGE-RANGE",
          "search range " + std::to_string(range) + " is outside 1..127: vectors have 7 bits");

  const GuardedCopy current_copy(current);
  const GuardedCopy reference_copy(reference);
  const PlaneGeometry g{current.width, current.height, current.width / kBlockSize, current.height / kBlockSize,
                        static_cast<std::size_t>(current.width) * static_cast<std::size_t>(current.height)};
  MotionField field{g.columns, g.rows, std::vector<MotionVector>(static_cast<std::size_t>(g.blocks())),
                    std::vector<std::uint16_t>(static_cast<std::size_t>(g.blocks()))};

  const auto searcher = cpu::make_block_searcher(method, cpu::kernels(), g, range);
  searcher->begin(current_copy.view(), reference_copy.view());
  oneapi::tbb::parallel_for(0, g.rows,
                            [&](int row) { searcher->prepare_rows(row * kBlockSize, (row + 1) * kBlockSize); });
  searcher->prepare();
  oneapi::tbb::parallel_for(0, g.rows, [&](int row) {
    MotionVector left;
    for (int column = 0; column < g.columns; ++column) {
      const int x = column * kBlockSize;
      const int y = row * kBlockSize;
      SearchWindow window = search_window(column, row, g.width, g.height, range);
      if (window.empty()) window = {x, y, x + 1, y + 1};  // no candidate: the zero vector
      const cpu::BestCandidate best = searcher->search({window, x, y, {&left, 1}});
      left = {static_cast<std::int8_t>(best.x - x), static_cast<std::int8_t>(best.y - y)};
      const auto block = static_cast<std::size_t>(row) * static_cast<std::size_t>(g.columns) + static_cast<std::size_t>(column);
      field.vectors[block] = left;
      field.sads[block] = static_cast<std::uint16_t>(best.sad);
    }
  });
  return field;
}

}  // namespace c63
