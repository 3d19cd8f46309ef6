#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "c63/picture.h"
#include "io/output_file.h"

namespace c63 {

/// Where frames go. Frames are in linear layout, frame_bytes(width, height) each; all of one writer have one size.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  /// Throws Error (output) where it cannot be written, Error (usage, C63-Y4M-ODD) for what the format cannot hold.
  void write(int width, int height, std::span<const std::uint8_t> frame) {
    write_planes(width, height, split_planes(frame, width, height));
  }
  /// The same of planes wherever they lie.
  virtual void write_planes(int width, int height, const std::array<std::span<const std::uint8_t>, 3>& planes) = 0;
  /// Completes the file; without it a regular file does not appear. See OutputFile::commit().
  virtual void commit() = 0;
  /// The same for what a stop has cut short. See OutputFile::commit_part().
  [[nodiscard]] virtual std::string commit_part() = 0;
};

/// What a video file is written as.
enum class OutputFormat {
  automatic,  ///< Y4M where the path ends in .y4m, else raw
  raw,
  y4m,
};

/// "-" is stdout. Throws Error (usage, C63-OUTPUT-NAME) where the format is automatic and the name is that of a container.
/// Y4M takes even sides only: for others it holds ceil(W/2)·ceil(H/2) chroma samples, and the course codec W·H/4.
[[nodiscard]] std::unique_ptr<FrameWriter> open_frame_writer(const std::string& path, FrameRate rate = {},
                                                             Durability durability = Durability::process,
                                                             OutputFormat format = OutputFormat::automatic);

/// Takes frames and keeps nothing.
[[nodiscard]] std::unique_ptr<FrameWriter> make_null_writer();

}  // namespace c63
