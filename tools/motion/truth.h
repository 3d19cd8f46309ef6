#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/block_statistics.h"

namespace c63::tools {

/// The true motion of a sequence, as c63gen writes it: CSV with the columns frame,x,y,mv_x,mv_y, the vector in samples
/// from the block at x,y to where it was in the frame before; empty where it was hidden.
class MotionTruth {
 public:
  /// Throws Error (input, C63-TRUTH) that names the line, Error (limit, C63-MAX-MEMORY) for a list that takes more.
  MotionTruth(const std::string& path, std::uint64_t max_memory);

  /// Bytes that the list takes, and what is kept of errors against it.
  [[nodiscard]] std::uint64_t memory() const { return memory_; }

  /// Number of frames of the video, of which the first has no motion.
  [[nodiscard]] std::int64_t frame_count() const { return last_frame_ + 1; }

  /// Throws Error (input, C63-TRUTH) if the stream has `frames` frames, or that many and more, and the truth another number.
  void check_length(std::int64_t frames, bool all) const;

  /// `film` says that blocks are those of the picture, whatever its width.
  /// Distances in samples between the true vectors of a frame's luma blocks and the coded ones; nothing for blocks
  /// without either.
  [[nodiscard]] std::vector<double> endpoint_errors(std::int64_t frame, const FrameBlocks& blocks, bool film = false) const;

 private:
  struct Entry {
    int x;
    int y;
    double mv_x;
    double mv_y;
  };
  std::string path_;
  std::int64_t last_frame_ = 0;
  std::uint64_t memory_ = 0;
  std::map<std::int64_t, std::vector<Entry>> frames_;
};

}  // namespace c63::tools
