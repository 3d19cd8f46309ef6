#pragma once

#include "codec/search_window.h"

namespace c63::bench {

/// Returns how many candidates an exhaustive search of a plane tests. Its sides are multiples of 8.
inline double count_candidates(int width, int height, int range) {
  double count = 0;
  for (int row = 0; row < height / kBlockSize; ++row) {
    for (int column = 0; column < width / kBlockSize; ++column) {
      const SearchWindow w = search_window(column, row, width, height, range);
      if (!w.empty()) count += static_cast<double>(w.right - w.left) * (w.bottom - w.top);
    }
  }
  return count;
}

}  // namespace c63::bench
