#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "c63/decoder.h"
#include "c63/motion.h"
#include "c63/picture.h"
#include "pipeline/frame_task.h"
#include "pipeline/picture_pool.h"
#include "pipeline/stream_reader.h"

namespace c63::tools {

/// One coded frame with its vectors and what they point into.
struct FrameMotion {
  std::int64_t index = 0;
  bool has_vectors = false;                 ///< false for key frames and repeats
  std::array<MotionField, 3> motion;        ///< with the vectors that a frame inherits
  std::array<ConstPlaneView, 3> reference;  ///< the padded planes; valid until the next call
};

/// Decodes a stream frame by frame and keeps the reference of each, with the padding that FrameDecoder leaves out.
class StreamMotion {
 public:
  StreamMotion(const std::string& path, const Limits& limits);

  /// The next frame; empty at the end. Throws Error (input, limit) with file, frame and offset.
  [[nodiscard]] std::optional<FrameMotion> next();

  /// Width and height of the picture: those of the first frame. Decodes nothing. Throws Error (input) for an empty
  /// stream.
  [[nodiscard]] VideoFormat format();

 private:
  void look_ahead();
  [[nodiscard]] FrameMotion decode(StreamFrame&& coded);

  std::string path_;
  Limits limits_;
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  std::optional<StreamFrame> ahead_;  ///< the next frame
  bool begun_ = false;
  PicturePool pool_{3};  ///< the frame's picture and the two earlier ones that it may need
  ReferenceChain chain_;
  FrameTask task_;
  TraceRow trace_;
  FramePictures pictures_;  ///< of the last frame
};

}  // namespace c63::tools
