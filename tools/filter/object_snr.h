#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "c63/picture.h"

namespace c63::tools {

/// The place of the moving object of a star field, by frame.
struct ObjectTruth {
  double x = 0;
  double y = 0;
};
/// Reads the file of `c63gen --pattern stars --truth`. Throws Error (input, C63-TRUTH) for anything else.
[[nodiscard]] std::map<std::int64_t, ObjectTruth> read_star_truth(const std::string& path);

/// Signal-to-noise ratio of an object over many pictures. Signal: how far the mean of the 3x3 samples on the object
/// exceeds the mean of the picture. It is the median over the pictures, because the object also meets stars. Noise: the
/// root mean square of the difference of all other samples from that mean.
class ObjectSnr {
 public:
  /// Leaves out pictures in which the object is within 8 samples of the border.
  void add(BasicPlaneView<const float> picture, const ObjectTruth& object);
  /// In dB. Nothing if no picture was added, or if the object is not above the mean.
  [[nodiscard]] std::optional<double> decibels() const;

 private:
  std::vector<double> signals_;
  double noise_ = 0;
};

}  // namespace c63::tools
