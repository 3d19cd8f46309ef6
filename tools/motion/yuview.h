#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "c63/picture.h"
#include "common/outputs.h"
#include "motion/motion_stream.h"
#include "encode/block_statistics.h"

namespace c63::tools {

/// Which statistics of the luma blocks to write.
struct BlockTypes {
  bool vectors = true;
  bool sads = true;
  bool bits = true;
  bool film = false;           ///< blocks are aligned with the picture, whatever its width
  bool codec_vectors = false;  ///< also those of the film's own codec
};

/// Writes statistics of the luma blocks for YUView (github.com/IENT/YUView), which draws them over a video: its CSV
/// format, version 1.2. If blocks are not aligned with the picture (see blocks_line_up()), positions are in the coded,
/// padded picture.
class YuviewWriter {
 public:
  /// `name` is the sequence's name.
  YuviewWriter(const std::string& path, const std::string& name, const VideoFormat& format, BlockTypes types,
               Writing writing = {});

  /// Adds the next frame, in order. `sads` has one value for each luma block, or is empty. A block without a vector
  /// gets no row for its vector and SAD. A repeat gets no rows. `codec` may be null.
  void add(std::int64_t frame, const FrameBlocks& blocks, std::span<const std::uint32_t> sads, const CodecField* codec = nullptr);
  void commit() { file_.commit(); }
  [[nodiscard]] std::string commit_part() { return file_.commit_part(); }

 private:
  TextFile file_;
  BlockTypes types_;
  int width_;  ///< of the picture in which positions are given
  int height_;
};

}  // namespace c63::tools
