#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "c63/decoder.h"
#include "c63/motion.h"
#include "c63/picture.h"
#include "decode/frame_task.h"
#include "decode/picture_pool.h"
#include "decode/stream_reader.h"

namespace c63::tools {

/// A coded frame, its vectors, and the planes that they refer to.
struct FrameMotion {
  std::int64_t index = 0;
  bool has_vectors = false;                 ///< false for key frames and repeats
  std::array<MotionField, 3> motion;        ///< the vectors, including those inherited from the frame before
  std::array<ConstPlaneView, 3> reference;  ///< the reference's padded planes; valid until the next call of next()
};

/// Decodes a stream frame by frame. Keeps each frame's reference with its padding, which FrameDecoder leaves out.
class StreamMotion {
 public:
  StreamMotion(const std::string& path, const Limits& limits, std::stop_token stop);

  /// Returns the next frame; nothing at the end. Throws Error (input, limit) with file, frame and offset.
  [[nodiscard]] std::optional<FrameMotion> next();

  /// Returns the size of the first frame's picture. Decodes no samples. Call it before next(). Throws Error (input), for
  /// example for an empty stream.
  [[nodiscard]] VideoFormat format();

 private:
  void look_ahead();
  [[nodiscard]] FrameMotion decode(StreamFrame&& coded);

  std::string path_;
  Limits limits_;
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  std::optional<StreamFrame> ahead_;  ///< the next frame, not yet decoded
  bool begun_ = false;
  PicturePool pool_{3};  ///< the picture of the frame, and two earlier ones that it may refer to
  ReferenceChain chain_;
  FrameTask task_;
  TraceRow trace_;
  FramePictures pictures_;  ///< those of the last frame
};

}  // namespace c63::tools
