#pragma once

namespace c63 {

/// The shift of a frame against a reference, in samples: frame(x, y) ≈ reference(x + dx, y + dy), for |dx|, |dy| up to
/// about 0.5.
struct FrameShift {
  double dx = 0;
  double dy = 0;
};

}  // namespace c63
