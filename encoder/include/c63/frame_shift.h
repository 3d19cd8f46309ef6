#pragma once

namespace c63 {

/// By how many samples a frame is shifted: frame(x, y) ≈ reference(x + dx, y + dy), for |dx|, |dy| up to about half.
struct FrameShift {
  double dx = 0;
  double dy = 0;
};

}  // namespace c63
