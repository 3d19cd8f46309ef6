#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "encode/block_statistics.h"

namespace c63 {
struct FilmFrame;
}

namespace c63::tools {

/// The true motion of a sequence, as c63gen writes it: CSV with the columns frame,x,y,mv_x,mv_y. The vector is in
/// samples and leads from the block at x,y to where its content was in the frame before. It is empty if the content was
/// hidden there.
class MotionTruth {
 public:
  /// Reads the file. Throws Error (input, C63-TRUTH) with the line, or Error (limit, C63-MAX-MEMORY) if it needs more
  /// than `max_memory`. A stop request ends the wait for a pipe.
  MotionTruth(const std::string& path, std::uint64_t max_memory, std::stop_token stop = {});

  /// Returns how many bytes the entries and their errors take.
  [[nodiscard]] std::uint64_t memory() const { return memory_; }

  /// Returns the number of frames of the video. The first one has no motion.
  [[nodiscard]] std::int64_t frame_count() const { return last_frame_ + 1; }

  /// Throws Error (input, C63-TRUTH) unless the truth has as many frames as the stream. `all`: the stream has exactly
  /// `frames` frames; otherwise it has at least that many.
  void check_length(std::int64_t frames, bool all) const;

  /// Returns the distances in samples between the true and the coded vectors of a frame's luma blocks. Blocks that lack
  /// one of the two are left out. In a film, blocks are aligned with the picture, whatever its width. If `film` is null,
  /// throws Error (usage, C63-MV-SHEARED) if the width is not a multiple of 16.
  [[nodiscard]] std::vector<double> endpoint_errors(std::int64_t frame, const FrameBlocks& blocks, const FilmFrame* film = nullptr) const;

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
