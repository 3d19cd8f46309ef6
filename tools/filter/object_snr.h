#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "c63/picture.h"

namespace c63::tools {

/// The position of the moving object of a star field in one frame, in samples.
struct ObjectTruth {
  double x = 0;
  double y = 0;
};
/// Reads the file of `c63gen --pattern stars --truth`, and returns the object's position by frame. Throws Error (input,
/// C63-TRUTH) if the file is anything else.
[[nodiscard]] std::map<std::int64_t, ObjectTruth> read_star_truth(const std::string& path);

/// Signal-to-noise ratio of a moving object over many pictures. The background is the picture without the 13x13 samples
/// around the object. The signal is the mean of the 3x3 samples around the object, minus the mean of the background. Its
/// median over all pictures is used, because the object sometimes passes a star. The noise is the standard deviation of the
/// background.
class ObjectSnr {
 public:
  /// Adds a picture, unless the object is within 8 samples of the border.
  void add(BasicPlaneView<const float> picture, const ObjectTruth& object);
  /// Returns the ratio in dB. Returns nothing if no picture was added, or if the object is not brighter than the mean.
  [[nodiscard]] std::optional<double> decibels() const;

 private:
  std::vector<double> signals_;
  double noise_ = 0;
};

}  // namespace c63::tools
