#pragma once

#include <span>

#include "cpu/search_method.h"

namespace c63::cpu {

/// A step of a descent, in samples.
struct Step {
  int x;
  int y;
};

/// Moves `best` to the best of its neighbours by `steps`, in their order, until none is strictly better. `sad_at(x, y)`
/// gives the SAD of a candidate of the window.
template <typename SadAt>
void descend(BestCandidate& best, const SearchWindow& window, std::span<const Step> steps, bool once, SadAt&& sad_at) {
  for (;;) {
    const BestCandidate center = best;
    for (const Step step : steps) {
      const int x = center.x + step.x;
      const int y = center.y + step.y;
      if (x < window.left || x >= window.right || y < window.top || y >= window.bottom) continue;
      const std::uint32_t sad = sad_at(x, y);
      if (sad < best.sad) best = {x, y, sad};
    }
    if (once || best.sad == center.sad) return;
  }
}

inline constexpr Step kSmallDiamond[] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
inline constexpr Step kLargeDiamond[] = {{0, -2}, {-1, -1}, {1, -1}, {-2, 0}, {2, 0}, {-1, 1}, {1, 1}, {0, 2}};
inline constexpr Step kHexagon[] = {{-1, -2}, {1, -2}, {-2, 0}, {2, 0}, {-1, 2}, {1, 2}};
inline constexpr Step kSquare[] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};

}  // namespace c63::cpu
