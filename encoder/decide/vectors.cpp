#include "decide/vectors.h"

namespace c63 {

namespace {

std::string text_of(int x, int y) { return std::string("(").append(std::to_string(x)).append(", ").append(std::to_string(y)).append(")"); }

}  // namespace

Error user_vector_error(const std::string& name, int plane, int column, int row, int width, int height, int range,
                       MotionVector vector) {
  const SearchWindow window = search_window(column, row, width, height, range);
  const int x = column * kBlockSize;
  const int y = row * kBlockSize;
  std::string why = "your vector " + text_of(vector.x, vector.y) + " is not a candidate; ";
  if (vector == kNotWritten) why = "your search wrote no vector; ";
  why += window.empty() ? "the block has none, so its vector is (0, 0)"
                        : "candidates are " + text_of(window.left - x, window.top - y) + " to " +
                              text_of(window.right - 1 - x, window.bottom - 1 - y);
  return {ErrorKind::usage, "C63-SEARCH-VECTOR", why,
          {.file = name, .block = std::string(1, "YUV"[plane]) + " block " + text_of(column, row)}};
}

}  // namespace c63
