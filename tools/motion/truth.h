#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/block_statistics.h"

namespace c63::tools {

/// The true motion of a sequence, as c63gen writes it: CSV with the columns frame,x,y,mv_x,mv_y. The vector is in
/// samples, from the block at x,y to its place in the previous frame. It is empty if that place was hidden.
class MotionTruth {
 public:
  /// Throws Error (input, C63-TRUTH) with the line, or Error (limit, C63-MAX-MEMORY) if the list takes more.
  MotionTruth(const std::string& path, std::uint64_t max_memory);

  /// Returns the bytes of the list and of the errors kept with it.
  [[nodiscard]] std::uint64_t memory() const { return memory_; }

  /// Returns the number of frames of the video. The first one has no motion.
  [[nodiscard]] std::int64_t frame_count() const { return last_frame_ + 1; }

  /// Throws Error (input, C63-TRUTH) if the stream has `frames` frames (or at least that many) and the truth has
  /// another number.
  void check_length(std::int64_t frames, bool all) const;

  /// Returns distances in samples between the true and the coded vectors of a frame's luma blocks. Blocks without one
  /// of them are left out.
  [[nodiscard]] std::vector<double> endpoint_errors(std::int64_t frame, const FrameBlocks& blocks) const;

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
