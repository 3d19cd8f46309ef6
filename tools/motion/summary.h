#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "motion/motion_stream.h"
#include "motion/truth.h"

namespace c63::tools {

/// A summary of the luma vectors of a stream.
class MotionSummary {
 public:
  /// `truth` may be null.
  void add(const MotionFrame& frame, const MotionTruth* truth);

  [[nodiscard]] std::string text(bool with_histogram = true) const;
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// Histogram of the longer component: label and number of vectors.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> histogram() const;

 private:
  [[nodiscard]] std::uint64_t vectors() const;
  [[nodiscard]] double zero_share() const;
  [[nodiscard]] double mean_length() const;
  [[nodiscard]] double mean_error() const;
  [[nodiscard]] double median_error() const;
  [[nodiscard]] double exact_share() const;

  std::int64_t frames_ = 0;
  std::int64_t key_frames_ = 0;
  std::int64_t repeats_ = 0;
  std::uint64_t blocks_ = 0;           // of luma in inter frames
  std::map<std::pair<int, int>, std::uint64_t> counts_;
  std::uint64_t sad_ = 0;                // of blocks with a vector
  bool sad_of_source_ = false;
  std::array<std::uint64_t, 2> bits_{};  // motion and coefficients of luma in inter frames
  bool with_truth_ = false;
  std::vector<float> errors_;
};

}  // namespace c63::tools
