#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "c63/picture.h"

namespace c63::tools {

/// Where the moving object of a star field is, by frame.
struct ObjectTruth {
  double x = 0;
  double y = 0;
};
/// Reads what `c63gen --pattern stars --truth` writes. Throws Error (input, C63-TRUTH) for anything else.
[[nodiscard]] std::map<std::int64_t, ObjectTruth> read_star_truth(const std::string& path);

/// Signal-to-noise ratio of an object over many pictures: how far the mean of the 3x3 samples on the object is above the
/// picture's mean (the median over the pictures, since the object also meets stars), over the root mean square of how far
/// all other samples are.
class ObjectSnr {
 public:
  /// Leaves pictures out in which the object is within 8 samples of the border.
  void add(BasicPlaneView<const float> picture, const ObjectTruth& object);
  /// In dB; nothing where no picture was added or the object is not above the mean.
  [[nodiscard]] std::optional<double> decibels() const;

 private:
  std::vector<double> signals_;
  double noise_ = 0;
};

}  // namespace c63::tools
