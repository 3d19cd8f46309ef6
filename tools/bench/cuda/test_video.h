#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace c63::bench {

/// Luma planes of equal size. Rows have no gaps.
struct LumaVideo {
  std::string name;
  int width = 0;   ///< a multiple of 16
  int height = 0;  ///< a multiple of 16
  std::vector<std::vector<std::uint8_t>> frames;
};

/// Returns frames that resemble video for a motion search: textures of several scales, a camera that pans by fractions
/// of a sample, moving objects, and sensor noise. They are the same on every machine.
[[nodiscard]] LumaVideo natural_video(int width, int height, int frames);

/// Returns independent noise in each frame, so that no candidate matches and none can be ruled out early.
[[nodiscard]] LumaVideo noise_video(int width, int height, int frames);

/// Returns the first luma planes of a raw 4:2:0 file, at most `frames`. Their sides are padded to multiples of 16. Each is
/// filled linearly, as in the codec, so rows shift if the width is no multiple of 16. Throws Error (input) if there are
/// fewer than two frames.
[[nodiscard]] LumaVideo read_luma(const std::string& file, int width, int height, int frames);

}  // namespace c63::bench
