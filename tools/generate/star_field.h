#pragma once

#include <cstdint>
#include <vector>

#include "generate/scene.h"

namespace c63 {

/// What one frame of a star field shows. Positions are in 1/256 sample.
struct StarTruth {
  Point shift;          ///< shift of the whole sky against frame 0
  Point object;         ///< position of the moving object
  int object_peak = 0;  ///< brightness that the object adds at its centre, in grey levels
};

/// Draws the frames of pattern `stars`: fixed stars, seen by a camera that shakes, and one dim object that moves.
class StarField {
 public:
  StarField(int width, int height, std::uint32_t seed, Point velocity);

  [[nodiscard]] StarTruth truth(std::int64_t frame) const;
  /// Writes the luma of a frame, width * height samples. No noise is added.
  void render(std::int64_t frame, std::uint8_t* luma) const;

 private:
  struct Star {
    Point at;
    int peak;
  };
  static void add_spot(std::vector<int>& light, int width, int height, Point at, int peak);

  int width_;
  int height_;
  std::uint32_t seed_;
  Point velocity_;
  std::vector<Star> stars_;
};

}  // namespace c63
