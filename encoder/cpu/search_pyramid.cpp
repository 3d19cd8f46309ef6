// Pyramid search: both planes are halved until the range is a few samples; there every block is searched exhaustively, and
// its vector, doubled, is where the next finer level looks. Reaches the whole range at the cost of a small one.

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/search_steps.h"

namespace c63::cpu {
namespace {

constexpr int kCoarsestRange = 8;  ///< samples of the coarsest level

/// A plane with the guard that kernels read over.
class GuardedPlane {
 public:
  GuardedPlane(int width, int height)
      : width_(width), height_(height),
        samples_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) + 2 * kPlaneGuard) {}

  [[nodiscard]] PlaneView view() { return {samples_.data() + kPlaneGuard, width_, height_, width_}; }
  [[nodiscard]] ConstPlaneView view() const { return {samples_.data() + kPlaneGuard, width_, height_, width_}; }

  /// Takes the mean of every 2x2 samples of `fine`.
  void halve(ConstPlaneView fine) {
    const PlaneView coarse = view();
    for (int y = 0; y < height_; ++y) {
      const std::uint8_t* above = fine.row(2 * y);
      const std::uint8_t* below = fine.row(2 * y + 1);
      std::uint8_t* out = coarse.row(y);
      for (int x = 0; x < width_; ++x) {
        out[x] = static_cast<std::uint8_t>((above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1] + 2) / 4);
      }
    }
  }

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> samples_;
};

/// A vector before it is cut to the window; coarse levels may point further than 127.
struct Offset {
  int x = 0;
  int y = 0;
};

/// Both planes at one scale, and the vector of each of its 8x8 blocks.
struct Scale {
  GuardedPlane current;
  GuardedPlane reference;
  int columns;
  int rows;
  std::vector<Offset> vectors;

  Scale(int width, int height)
      : current(width, height), reference(width, height), columns((width + kBlockSize - 1) / kBlockSize),
        rows((height + kBlockSize - 1) / kBlockSize),
        vectors(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  /// The vector of the block that block (column, row) of the next finer scale lies in.
  [[nodiscard]] Offset vector_for(int column, int row) const {
    const int c = std::min(column / 2, columns - 1);
    const int r = std::min(row / 2, rows - 1);
    return vectors[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)];
  }
};

class PyramidSearch final : public BlockSearcher {
 public:
  PyramidSearch(const Kernels& kernels, const PlaneGeometry& geometry, int range)
      : BlockSearcher(kernels, geometry, range) {
    int width = geometry.width / 2;
    int height = geometry.height / 2;
    for (int reach = range; reach > kCoarsestRange && std::min(width, height) > kBlockSize; reach = (reach + 1) / 2) {
      scales_.emplace_back(width, height);
      width /= 2;
      height /= 2;
    }
  }

  void prepare() override {
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      scales_[i].current.halve(i == 0 ? current_ : std::as_const(scales_[i - 1].current).view());
      scales_[i].reference.halve(i == 0 ? reference_ : std::as_const(scales_[i - 1].reference).view());
    }
    for (std::size_t i = scales_.size(); i > 0; --i) search_scale(i - 1);
  }

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    if (scales_.empty()) return kernels_.search_brute(block_search(task));
    BestCandidate best = best_predictor(task);
    const Offset coarse = scales_[0].vector_for(task.x / kBlockSize, task.y / kBlockSize);
    const auto sad = [&](int x, int y) { return sad_at(task, x, y); };
    refine(best, task.window, task.x + 2 * coarse.x, task.y + 2 * coarse.y, sad);
    descend(best, task.window, kSmallDiamond, false, sad);
    return best;
  }

 private:
  /// Tests the candidates around (x, y).
  template <typename SadAt>
  static void refine(BestCandidate& best, const SearchWindow& window, int x, int y, SadAt&& sad_at) {
    BestCandidate around{std::clamp(x, window.left, window.right - 1), std::clamp(y, window.top, window.bottom - 1), 0};
    around.sad = sad_at(around.x, around.y);
    descend(around, window, kSquare, true, sad_at);
    if (around.sad < best.sad) best = around;
  }

  void search_scale(std::size_t index) {
    Scale& scale = scales_[index];
    const bool coarsest = index + 1 == scales_.size();
    const ConstPlaneView current = std::as_const(scale.current).view();
    const ConstPlaneView reference = std::as_const(scale.reference).view();
    const int reach = (range_ >> (index + 1)) + 1;
    for (int row = 0; row < scale.rows; ++row) {
      for (int column = 0; column < scale.columns; ++column) {
        const int x = std::min(column * kBlockSize, current.width - kBlockSize);
        const int y = std::min(row * kBlockSize, current.height - kBlockSize);
        const std::uint8_t* block = &current.at(x, y);
        const SearchWindow window{std::max(0, x - reach), std::max(0, y - reach),
                                  std::min(current.width - kBlockSize, x + reach) + 1,
                                  std::min(current.height - kBlockSize, y + reach) + 1};
        const auto sad = [&](int at_x, int at_y) {
          return kernels_.sad(block, current.pitch, &reference.at(at_x, at_y), reference.pitch);
        };
        BestCandidate best{x, y, sad(x, y)};
        if (coarsest) {
          const BestCandidate found = kernels_.search_brute({block, current.pitch, reference, window});
          if (found.sad < best.sad) best = found;
        } else {
          const Offset coarse = scales_[index + 1].vector_for(column, row);
          refine(best, window, x + 2 * coarse.x, y + 2 * coarse.y, sad);
          descend(best, window, kSmallDiamond, false, sad);
        }
        scale.vectors[static_cast<std::size_t>(row) * static_cast<std::size_t>(scale.columns) +
                      static_cast<std::size_t>(column)] = {best.x - x, best.y - y};
      }
    }
  }

  std::vector<Scale> scales_;  ///< finest first; the planes themselves are finer still
};

}  // namespace

std::unique_ptr<BlockSearcher> make_pyramid_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<PyramidSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
