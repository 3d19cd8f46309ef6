#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "c63/frame_source.h"
#include "io/input_file.h"

namespace c63 {

/// A container that FFmpeg reads: frames in order, from the first one or from a key frame.
class AvSource : public FrameSource {
 public:
  [[nodiscard]] std::optional<std::int64_t> frame_count() const final { return std::nullopt; }
  [[nodiscard]] bool seekable() const final { return false; }
  /// Makes a key frame the next one that is read; before the first read() or between two. False where it is not found: then the source is of no more use.
  [[nodiscard]] virtual bool go_to(const SeekTable::Point& point) = 0;
};

/// Throws Error (usage, C63-NO-FFMPEG) in a build without FFmpeg.
[[nodiscard]] std::unique_ptr<AvSource> open_av_source(std::unique_ptr<InputFile> file, const SourceOptions& options);

/// What a SeekTable has of a frame.
[[nodiscard]] std::uint64_t sum_of_frame(std::span<const std::uint8_t> samples);

}  // namespace c63
