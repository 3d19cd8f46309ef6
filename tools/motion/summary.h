#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "motion/motion_stream.h"
#include "motion/truth.h"

namespace c63::tools {

/// Statistics of the luma vectors of a stream or film.
class MotionSummary {
 public:
  /// Adds a frame. `truth` may be null.
  void add(const MotionFrame& frame, const MotionTruth* truth);

  [[nodiscard]] std::int64_t frames() const { return frames_; }
  [[nodiscard]] std::string text(bool with_histogram = true) const;
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// Returns the histogram of each vector's longer component: label and number of vectors.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> histogram() const;

 private:
  static constexpr std::size_t kVectors = 256 * 256;
  [[nodiscard]] static std::pair<int, int> vector_of(std::size_t place) {
    return {static_cast<int>(place % 256) - 128, static_cast<int>(place / 256) - 128};
  }

  void add_codec(const MotionFrame& frame);
  [[nodiscard]] std::string codec_text() const;
  [[nodiscard]] nlohmann::ordered_json codec_json() const;
  [[nodiscard]] std::uint64_t vectors() const;
  [[nodiscard]] double zero_share() const;
  [[nodiscard]] double mean_length() const;
  [[nodiscard]] double mean_error() const;
  [[nodiscard]] double median_error() const;
  [[nodiscard]] double exact_share() const;

  std::int64_t frames_ = 0;
  std::int64_t key_frames_ = 0;
  std::int64_t repeats_ = 0;
  std::uint64_t blocks_ = 0;           // luma blocks in inter frames
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kVectors);  ///< by vector: y, then x, both from -128
  std::uint64_t sad_ = 0;                // of luma blocks with a vector
  bool sad_of_source_ = false;
  std::array<std::uint64_t, 2> bits_{};  // bits of vectors and of coefficients, of luma in inter frames
  bool with_truth_ = false;
  std::vector<float> errors_;

  // Only for films.
  bool film_ = false;
  struct Codec {
    static constexpr int kMostDistance = 1024;            ///< in quarters of a sample; larger distances count as this
    std::uint64_t blocks = 0;                             ///< blocks for which the codec has a vector
    std::uint64_t sad = 0;                                ///< sum for the codec's vectors
    std::uint64_t exact_sad = 0;                          ///< sum for the searched vectors of the same blocks
    double distance = 0;                                  ///< between both vectors, summed, in samples
    std::vector<std::uint64_t> distances = std::vector<std::uint64_t>(kMostDistance + 1);
    std::map<std::int64_t, std::uint64_t> references;     ///< number of frames by the distance to their reference
  };
  std::optional<Codec> codec_;
};

}  // namespace c63::tools
