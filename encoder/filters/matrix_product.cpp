// Matrix product. The fast form keeps a tile of b in the caches. It adds whole rows of the tile to c, each times one
// value of a.
#include <algorithm>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "filters/clones.h"
#include "c63/thread_pool.h"

namespace c63 {
namespace {

/// Adds Σ_k a[row][k] · b[k][i] to c[row][i] for four rows and `count` columns. A value of b is read only once for the
/// four rows.
C63_CLONES void multiply_rows(const float* const a[4], const float* b, std::ptrdiff_t b_pitch, std::size_t depth,
                              float* const c[4], std::size_t count) {
  float* __restrict c0 = c[0];
  float* __restrict c1 = c[1];
  float* __restrict c2 = c[2];
  float* __restrict c3 = c[3];
  for (std::size_t k = 0; k < depth; ++k) {
    const float a0 = a[0][k], a1 = a[1][k], a2 = a[2][k], a3 = a[3][k];
    const float* row = b + static_cast<std::ptrdiff_t>(k) * b_pitch;
    for (std::size_t i = 0; i < count; ++i) {
      c0[i] += a0 * row[i];
      c1[i] += a1 * row[i];
      c2[i] += a2 * row[i];
      c3[i] += a3 * row[i];
    }
  }
}

void multiply_fast(BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c) {
  constexpr int kDepth = 128;
  constexpr int kColumns = 256;
  const int blocks = (a.height + 3) / 4;
  parallel_ranges(static_cast<std::size_t>(blocks), 4, [&](std::size_t begin, std::size_t end) {
    for (int row = static_cast<int>(begin) * 4; row < std::min(static_cast<int>(end) * 4, a.height); ++row) {
      std::fill_n(c.row(row), c.width, 0.0F);
    }
    for (int column = 0; column < b.width; column += kColumns) {
      const int columns = std::min(kColumns, b.width - column);
      for (int depth = 0; depth < a.width; depth += kDepth) {
        const int deep = std::min(kDepth, a.width - depth);
        for (int block = static_cast<int>(begin); block < static_cast<int>(end); ++block) {
          if (block * 4 + 4 <= a.height) {
            const float* from[4];
            float* to[4];
            for (int r = 0; r < 4; ++r) {
              from[r] = a.row(block * 4 + r) + depth;
              to[r] = c.row(block * 4 + r) + column;
            }
            multiply_rows(from, b.row(depth) + column, b.pitch, static_cast<std::size_t>(deep), to,
                          static_cast<std::size_t>(columns));
            continue;
          }
          for (int row = block * 4; row < a.height; ++row) {
            float* out = c.row(row) + column;
            for (int k = 0; k < deep; ++k) {
              const float scale = a.at(depth + k, row);
              const float* in = b.row(depth + k) + column;
              for (int i = 0; i < columns; ++i) out[i] += scale * in[i];
            }
          }
        }
      }
    }
  });
}

}  // namespace

void multiply(BasicPlaneView<const float> a, BasicPlaneView<const float> b, BasicPlaneView<float> c, FilterForm form) {
  check_product(a, b, c);
  if (form == FilterForm::fast) return multiply_fast(a, b, c);
  for (int y = 0; y < c.height; ++y) {
    for (int x = 0; x < c.width; ++x) {
      double total = 0;
      for (int k = 0; k < a.width; ++k) total += static_cast<double>(a.at(k, y)) * b.at(x, k);
      c.at(x, y) = static_cast<float>(total);
    }
  }
}

}  // namespace c63
