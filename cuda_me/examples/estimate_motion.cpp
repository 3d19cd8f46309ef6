// Finds how each 8x8 block of a picture has moved, on the GPU. The picture shows a disc that moves by (5, -3) over a
// pattern.

#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "c63/cuda/devices.h"
#include "c63/cuda/motion_estimator.h"
#include "c63/error.h"

namespace {

constexpr int kWidth = 320;
constexpr int kHeight = 192;

std::vector<std::uint8_t> draw(int moved_x, int moved_y) {
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(kWidth) * kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int u = x - 160 - moved_x;
      const int v = y - 96 - moved_y;
      const bool in_disc = u * u + v * v < 60 * 60;
      const int p = in_disc ? u * u + 7 * u * v + 3 * v : x * 5 + y * x / 3;
      samples[static_cast<std::size_t>(y) * kWidth + x] = static_cast<std::uint8_t>(p);
    }
  }
  return samples;
}

}  // namespace

int main() {
  try {
    std::printf("on %s\n", c63::cuda::require_device().name.c_str());
    const std::vector<std::uint8_t> before = draw(0, 0);
    const std::vector<std::uint8_t> after = draw(5, -3);
    c63::cuda::MotionEstimator estimator({.width = kWidth, .height = kHeight, .range = 16});
    const c63::MotionField field = estimator.estimate({.current = {after.data(), kWidth, kHeight, kWidth},
                                                       .reference = {before.data(), kWidth, kHeight, kWidth}});
    std::map<std::pair<int, int>, int> counts;
    for (const c63::MotionVector vector : field.vectors) ++counts[{vector.x, vector.y}];
    for (const auto& [vector, count] : counts) {
      if (count >= 20) std::printf("%5d blocks come from (%+d, %+d)\n", count, vector.first, vector.second);
    }
  } catch (const c63::Error& error) {
    std::fprintf(stderr, "estimate_motion: %s\n", error.what());
    return 8;
  }
  return 0;
}
