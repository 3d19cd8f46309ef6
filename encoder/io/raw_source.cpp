#include <tuple>
#include <utility>

#include "c63/error.h"
#include "io/source_parts.h"
#include "io/text.h"

namespace c63 {
namespace {

/// Returns the number of frames as text, such as "299.8". It is rounded down, so that an incomplete frame does not look
/// complete.
std::string count_text(std::int64_t bytes, std::int64_t bytes_per_frame) {
  const std::int64_t tenths = (bytes % bytes_per_frame) * 10 / bytes_per_frame;
  return std::to_string(bytes / bytes_per_frame) + "." + std::to_string(tenths);
}

/// Frames without gaps in a regular file. read() changes no state, so any number of threads may call it at once.
class RawFileSource final : public FrameSource {
 public:
  RawFileSource(std::unique_ptr<InputFile> file, VideoFormat format)
      : file_(std::move(file)),
        format_(format),
        bytes_(static_cast<std::int64_t>(frame_bytes(format.width, format.height))),
        frames_(*file_->size() / bytes_) {}

  VideoFormat format() const override { return format_; }
  std::optional<std::int64_t> frame_count() const override { return frames_; }
  bool seekable() const override { return true; }
  bool concurrent() const override { return true; }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index < 0 || index >= frames_) return false;
    const std::size_t got = file_->read_at(index * bytes_, frame.first(static_cast<std::size_t>(bytes_)));
    if (got != static_cast<std::size_t>(bytes_)) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the file became shorter while it was read",
                  {.file = file_->name(), .frame = index, .offset = index * bytes_ + static_cast<std::int64_t>(got)});
    }
    return true;
  }

 private:
  std::unique_ptr<InputFile> file_;
  VideoFormat format_;
  std::int64_t bytes_;
  std::int64_t frames_;
};

/// Frames without gaps in a pipe.
class RawPipeSource final : public FrameSource {
 public:
  RawPipeSource(std::unique_ptr<InputFile> file, VideoFormat format, const SourceOptions& options)
      : file_(std::move(file)), format_(format), options_(options) {}

  VideoFormat format() const override { return format_; }
  std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  bool seekable() const override { return false; }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override;

 private:
  std::unique_ptr<InputFile> file_;
  VideoFormat format_;
  SourceOptions options_;
  std::int64_t next_ = 0;
  bool ended_ = false;
};

void report_partial_frame(std::int64_t bytes, const VideoFormat& format, const SourceOptions& options,
                          const std::string& file) {
  const auto per_frame = static_cast<std::int64_t>(frame_bytes(format.width, format.height));
  const std::string what =
      count_text(bytes, per_frame) + " frames of " + size_text(format.width, format.height) + ": wrong size?";
  if (options.strict) {
    throw Error(ErrorKind::input, "C63-RAW-PARTIAL", what,
                {.file = file, .frame = bytes / per_frame, .offset = bytes / per_frame * per_frame});
  }
  warn(options, what + " The partial last frame is dropped");
}

bool RawPipeSource::read(std::int64_t index, std::span<std::uint8_t> frame) {
  if (index != next_) {
    throw Error(ErrorKind::internal, "C63-SOURCE-ORDER", "the program asked for a frame out of order, but a pipe gives its frames in order",
                {.file = file_->name(), .frame = index});
  }
  if (ended_) return false;
  const std::size_t bytes = frame_bytes(format_.width, format_.height);
  const std::size_t got = file_->read(frame.first(bytes));
  if (got == bytes) {
    ++next_;
    return true;
  }
  ended_ = true;
  if (got > 0) report_partial_frame(file_->position(), format_, options_, file_->name());
  return false;
}

}  // namespace

std::unique_ptr<FrameSource> open_raw_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  VideoFormat format{options.width, options.height, options.rate.value_or(FrameRate{})};
  const auto named = size_from_name(options.path);
  if (format.width != 0) {
    if (named && *named != std::pair(format.width, format.height)) {
      warn(options, "the name says " + size_text(named->first, named->second) + ", but it is read as " +
                        size_text(format.width, format.height));
    }
  } else {
    if (!named) {
      throw Error(ErrorKind::usage, "C63-SIZE-UNKNOWN",
                  "raw video has no picture size: give width and height, or name it like name_352x288.yuv",
                  {.file = file->name()});
    }
    std::tie(format.width, format.height) = *named;
  }
  check_picture_size(format.width, format.height, options.limits, file->name());
  if (!file->seekable()) return std::make_unique<RawPipeSource>(std::move(file), format, options);
  if (*file->size() % static_cast<std::int64_t>(frame_bytes(format.width, format.height)) != 0) {
    report_partial_frame(*file->size(), format, options, file->name());
  }
  return std::make_unique<RawFileSource>(std::move(file), format);
}

}  // namespace c63
