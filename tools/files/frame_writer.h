#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "c63/picture.h"
#include "files/output_file.h"

namespace c63 {

/// Writes frames in linear layout, frame_bytes(width, height) bytes each. All frames must have the same size.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  /// Throws Error (output) if writing fails, and Error (usage, C63-Y4M-ODD) if the format cannot hold the frame.
  void write(int width, int height, std::span<const std::uint8_t> frame) {
    write_planes(width, height, split_planes(frame, width, height));
  }
  /// Writes a frame whose three planes need not lie next to each other.
  virtual void write_planes(int width, int height, const std::array<std::span<const std::uint8_t>, 3>& planes) = 0;
  /// Completes the file. If this is not called, a regular file does not appear. See OutputFile::commit().
  virtual void commit() = 0;
  /// Completes a file although a stop has cut it short. See OutputFile::commit_part().
  [[nodiscard]] virtual std::string commit_part() = 0;
};

/// The format in which a video file is written.
enum class OutputFormat {
  automatic,  ///< Y4M if the path ends in .y4m, otherwise raw
  raw,
  y4m,
};

/// Opens a writer; "-" is stdout. Throws Error (usage, C63-OUTPUT-NAME) if the format is automatic and the name is that
/// of a container. Y4M can only hold even sides: for odd ones it has ceil(W/2)·ceil(H/2) chroma samples, while the
/// course codec has floor(W·H/4).
[[nodiscard]] std::unique_ptr<FrameWriter> open_frame_writer(const std::string& path, FrameRate rate = {},
                                                             Writing writing = {},
                                                             OutputFormat format = OutputFormat::automatic);

/// Makes a writer that discards all frames.
[[nodiscard]] std::unique_ptr<FrameWriter> make_null_writer();

}  // namespace c63
