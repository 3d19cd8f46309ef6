#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "c63/decoder.h"

namespace c63::tools {

/// Collects the statistics of --stats.
class StreamStatistics {
 public:
  /// Adds a frame, which must have been decoded with its vectors.
  void add(const FrameView& frame);
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Sizes {
    std::int64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t smallest = 0;
    std::uint64_t largest = 0;
  };

  std::array<Sizes, 2> sizes_;  // of inter frames, of key frames
  std::int64_t replacing_ = 0;  // inter frames that replace the previous frame
  std::int64_t repeats_ = 0;
  std::uint64_t blocks_ = 0;   // luma blocks in inter frames
  std::uint64_t vectors_ = 0;  // those among them with a vector
  std::uint64_t zero_vectors_ = 0;
  double length_sum_ = 0;
  int largest_component_ = 0;
};

}  // namespace c63::tools
