#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "io/copy_padded.h"
#include "io/media_modules.h"
#include "io/source_parts.h"
#include "io/text.h"
#include "io/y4m_header.h"

namespace c63 {
namespace {

constexpr std::size_t kMaxLine = 4096;  // the longest header or FRAME line; usual lines are much shorter

/// How a frame's samples are stored in the file.
struct Layout {
  bool is_420 = false;            ///< 8-bit 4:2:0
  std::string pixel_format = {};  ///< FFmpeg's name of the layout
  std::size_t bytes = 0;          ///< bytes of a frame
};

Layout layout_of(const Y4mHeader& header, const std::string& file) {
  struct Named {
    std::string_view chroma;
    std::string_view pixel_format;
    int horizontal;  ///< log2 of luma samples per chroma sample, horizontally
    int vertical;
    int chroma_planes;
    int full_planes;  ///< planes in full size: Y, and alpha if there is one
    int sample_bytes;
  };
  static constexpr std::array kLayouts = {
      Named{"411", "yuv411p", 2, 0, 2, 1, 1},        Named{"422", "yuv422p", 1, 0, 2, 1, 1},
      Named{"444", "yuv444p", 0, 0, 2, 1, 1},        Named{"444alpha", "yuva444p", 0, 0, 2, 2, 1},
      Named{"mono", "gray", 0, 0, 0, 1, 1},          Named{"mono9", "gray9le", 0, 0, 0, 1, 2},
      Named{"mono10", "gray10le", 0, 0, 0, 1, 2},    Named{"mono12", "gray12le", 0, 0, 0, 1, 2},
      Named{"mono16", "gray16le", 0, 0, 0, 1, 2},    Named{"420p9", "yuv420p9le", 1, 1, 2, 1, 2},
      Named{"420p10", "yuv420p10le", 1, 1, 2, 1, 2}, Named{"420p12", "yuv420p12le", 1, 1, 2, 1, 2},
      Named{"420p14", "yuv420p14le", 1, 1, 2, 1, 2}, Named{"420p16", "yuv420p16le", 1, 1, 2, 1, 2},
      Named{"422p9", "yuv422p9le", 1, 0, 2, 1, 2},   Named{"422p10", "yuv422p10le", 1, 0, 2, 1, 2},
      Named{"422p12", "yuv422p12le", 1, 0, 2, 1, 2}, Named{"422p14", "yuv422p14le", 1, 0, 2, 1, 2},
      Named{"422p16", "yuv422p16le", 1, 0, 2, 1, 2}, Named{"444p9", "yuv444p9le", 0, 0, 2, 1, 2},
      Named{"444p10", "yuv444p10le", 0, 0, 2, 1, 2}, Named{"444p12", "yuv444p12le", 0, 0, 2, 1, 2},
      Named{"444p14", "yuv444p14le", 0, 0, 2, 1, 2}, Named{"444p16", "yuv444p16le", 0, 0, 2, 1, 2},
  };
  const auto width = static_cast<std::size_t>(header.format.width);
  const auto height = static_cast<std::size_t>(header.format.height);
  // These four layouts differ only in the position of the chroma samples.
  for (const std::string_view name : {"420", "420jpeg", "420mpeg2", "420paldv"}) {
    if (header.chroma == name) return {true, "yuv420p", width * height + 2 * ((width + 1) / 2 * ((height + 1) / 2))};
  }
  for (const Named& named : kLayouts) {
    if (header.chroma != named.chroma) continue;
    const std::size_t chroma_width = (width + (1U << named.horizontal) - 1) >> named.horizontal;
    const std::size_t chroma_height = (height + (1U << named.vertical) - 1) >> named.vertical;
    const std::size_t samples = width * height * static_cast<std::size_t>(named.full_planes) +
                                chroma_width * chroma_height * static_cast<std::size_t>(named.chroma_planes);
    return {false, std::string(named.pixel_format), samples * static_cast<std::size_t>(named.sample_bytes)};
  }
  throw Error(ErrorKind::input, "C63-Y4M-COLOUR",
              "Y4M colour space '" + header.chroma.substr(0, 40) +
                  "' is not supported; convert it with ffmpeg -pix_fmt "
                  "yuv420p",
              {.file = file});
}

/// Converts a frame's samples from the file's layout to the linear layout.
class Y4mFrames {
 public:
  Y4mFrames(const Y4mHeader& header, const SourceOptions& options, const std::string& file)
      : coded_(header.format), format_(header.format) {
    // Large sides are refused first, so that products of the sides cannot overflow below.
    if (coded_.width > kMaxSide || coded_.height > kMaxSide) {
      check_picture_size(coded_.width, coded_.height, options.limits, file);
    }
    layout_ = layout_of(header, file);
    check_picture_size(even_side(coded_.width), even_side(coded_.height), options.limits, file);
    if (layout_.bytes > options.limits.max_memory) {
      throw Error(
          ErrorKind::limit, "C63-MAX-MEMORY",
          "a frame takes " + bytes_text(layout_.bytes) + "; the limit is " + bytes_text(options.limits.max_memory),
          {.file = file});
    }
    if (options.rate) format_.rate = *options.rate;
    format_.width = even_side(coded_.width);
    format_.height = even_side(coded_.height);
    if (!layout_.is_420) {
      try {
        converter_ =
            ffmpeg_module(options.module_folder).make_converter(layout_.pixel_format, coded_.width, coded_.height);
      } catch (const Error& error) {
        throw error.at({.file = file});
      }
      warn(options, layout_.pixel_format + " is converted to yuv420p");
    }
    if (format_.width != coded_.width || format_.height != coded_.height) {
      warn(options, size_text(coded_.width, coded_.height) + " is padded to " +
                        size_text(format_.width, format_.height) + " by repeating the last column and row");
    }
  }

  [[nodiscard]] const VideoFormat& format() const { return format_; }
  [[nodiscard]] std::size_t bytes() const { return layout_.bytes; }
  /// Returns true if the file's layout is the linear layout.
  [[nodiscard]] bool is_verbatim() const { return layout_.is_420 && coded_.width % 2 == 0 && coded_.height % 2 == 0; }

  void convert(std::span<const std::uint8_t> picture, std::span<std::uint8_t> frame) {
    if (converter_) {
      converter_->convert_packed(picture, frame);
      return;
    }
    const int chroma_width = (coded_.width + 1) / 2;
    const std::size_t luma = plane_bytes(coded_.width, coded_.height, 0);
    const std::size_t chroma = (picture.size() - luma) / 2;
    const std::uint8_t* planes[3] = {picture.data(), picture.data() + luma, picture.data() + luma + chroma};
    const int pitches[3] = {coded_.width, chroma_width, chroma_width};
    copy_padded(planes, pitches, coded_.width, coded_.height, frame);
  }

 private:
  VideoFormat coded_;
  VideoFormat format_;
  Layout layout_;
  std::unique_ptr<MediaConverter> converter_;
};

Error frame_line_error(const std::string& file, std::int64_t frame, std::int64_t offset) {
  return {ErrorKind::input,
          "C63-Y4M-FRAME",
          "a FRAME line is missing here",
          {.file = file, .frame = frame, .offset = offset}};
}

Error truncated_error(const std::string& file, std::int64_t frame, std::int64_t offset) {
  return {ErrorKind::input, "C63-Y4M-TRUNCATED", "truncated", {.file = file, .frame = frame, .offset = offset}};
}

/// Returns the length of the FRAME line at the start of `bytes`, including the newline; 0 if there is no such line.
std::size_t frame_line_length(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view kFrame = "FRAME";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, kFrame.size()) != kFrame) return 0;
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  return end == kFrame.size() || text[kFrame.size()] == ' ' ? end + 1 : 0;
}

/// Y4M in a regular file. FRAME lines may have parameters, so their lengths differ, and the starts of frames must be
/// searched for. The search goes only up to the frame that is needed. Any number of threads may call read() at once.
class Y4mFileSource final : public FrameSource {
 public:
  Y4mFileSource(std::unique_ptr<InputFile> file, std::size_t header_bytes, Y4mHeader header,
                const SourceOptions& options)
      : file_(std::move(file)),
        frames_(header, options, file_->name()),
        next_line_(static_cast<std::int64_t>(header_bytes)) {}

  VideoFormat format() const override { return frames_.format(); }
  bool seekable() const override { return true; }

  /// A damaged last frame counts, too. Otherwise nobody would read it, and its error would not be reported.
  std::optional<std::int64_t> frame_count() const override {
    const std::scoped_lock lock(mutex_);
    while (find_next()) {
    }
    return static_cast<std::int64_t>(starts_.size()) + (fault_ ? 1 : 0);
  }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index < 0) return false;
    std::int64_t start = 0;
    {
      const std::scoped_lock lock(mutex_);
      while (static_cast<std::int64_t>(starts_.size()) <= index && find_next()) {
      }
      if (static_cast<std::int64_t>(starts_.size()) <= index) {
        if (fault_ && static_cast<std::int64_t>(starts_.size()) == index) throw *fault_;
        return false;
      }
      start = starts_[static_cast<std::size_t>(index)];
    }
    if (frames_.is_verbatim()) {
      read_samples(index, start, frame.first(frames_.bytes()));
      return true;
    }
    const std::scoped_lock lock(mutex_);
    picture_.resize(frames_.bytes());
    read_samples(index, start, picture_);
    frames_.convert(picture_, frame);
    return true;
  }

 private:
  /// Finds the start of one more frame. Returns false at the end and after an error.
  bool find_next() const {
    if (fault_) return false;
    const auto frame = static_cast<std::int64_t>(starts_.size());
    std::array<std::uint8_t, 64> short_line;
    std::span<const std::uint8_t> line = std::span(short_line).first(file_->read_at(next_line_, short_line));
    if (line.empty()) return false;
    std::size_t length = frame_line_length(line);
    std::vector<std::uint8_t> long_line;
    if (length == 0 && line.size() == short_line.size()) {
      long_line.resize(kMaxLine);
      length = frame_line_length(std::span(long_line).first(file_->read_at(next_line_, long_line)));
    }
    if (length == 0) {
      const bool cut = line.size() < 6 && std::equal(line.begin(), line.end(), "FRAME\n");
      fault_ = cut ? truncated_error(file_->name(), frame, next_line_ + static_cast<std::int64_t>(line.size()))
                   : frame_line_error(file_->name(), frame, next_line_);
      return false;
    }
    const std::int64_t start = next_line_ + static_cast<std::int64_t>(length);
    if (start + static_cast<std::int64_t>(frames_.bytes()) > *file_->size()) {
      fault_ = truncated_error(file_->name(), frame, *file_->size());
      return false;
    }
    starts_.push_back(start);
    next_line_ = start + static_cast<std::int64_t>(frames_.bytes());
    return true;
  }

  void read_samples(std::int64_t index, std::int64_t start, std::span<std::uint8_t> samples) const {
    const std::size_t got = file_->read_at(start, samples);
    if (got != samples.size()) throw truncated_error(file_->name(), index, start + static_cast<std::int64_t>(got));
  }

  std::unique_ptr<InputFile> file_;
  Y4mFrames frames_;
  mutable std::mutex mutex_;  // guards the members below, and the converter
  mutable std::int64_t next_line_;
  mutable std::vector<std::int64_t> starts_;
  mutable std::optional<Error> fault_;
  std::vector<std::uint8_t> picture_;
};

/// Y4M in a pipe.
class Y4mPipeSource final : public FrameSource {
 public:
  Y4mPipeSource(std::unique_ptr<InputFile> file, Y4mHeader header, const SourceOptions& options)
      : file_(std::move(file)), frames_(header, options, file_->name()) {}

  VideoFormat format() const override { return frames_.format(); }
  std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  bool seekable() const override { return false; }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index != next_) {
      throw Error(ErrorKind::internal, "C63-SOURCE-ORDER", "the program asked for a frame out of order, but a pipe gives its frames in order",
                  {.file = file_->name(), .frame = index});
    }
    if (!read_frame_line()) return false;
    std::span<std::uint8_t> samples = frame.first(frames_.is_verbatim() ? frames_.bytes() : 0);
    if (!frames_.is_verbatim()) {
      picture_.resize(frames_.bytes());
      samples = picture_;
    }
    if (file_->read(samples) != samples.size()) throw truncated_error(file_->name(), next_, file_->position());
    if (!frames_.is_verbatim()) frames_.convert(picture_, frame);
    ++next_;
    return true;
  }

 private:
  bool read_frame_line() {
    const std::int64_t start = file_->position();
    std::vector<std::uint8_t> line;
    for (std::uint8_t byte = 0; byte != '\n' && line.size() < kMaxLine; line.push_back(byte)) {
      if (file_->read(std::span(&byte, 1)) == 1) continue;
      if (line.empty()) return false;
      const bool cut = line.size() < 6 && std::equal(line.begin(), line.end(), "FRAME\n");
      throw cut ? truncated_error(file_->name(), next_, file_->position())
                : frame_line_error(file_->name(), next_, start);
    }
    if (frame_line_length(line) == 0) throw frame_line_error(file_->name(), next_, start);
    return true;
  }

  std::unique_ptr<InputFile> file_;
  Y4mFrames frames_;
  std::int64_t next_ = 0;
  std::vector<std::uint8_t> picture_;
};

}  // namespace

std::unique_ptr<FrameSource> open_y4m_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  std::string line;
  for (std::uint8_t byte = 0;;) {
    if (file->read(std::span(&byte, 1)) == 0) {
      throw Error(ErrorKind::input, "C63-Y4M-HEADER", "the Y4M header has no end",
                  {.file = file->name(), .offset = file->position()});
    }
    if (byte == '\n') break;
    line += static_cast<char>(byte);
    if (line.size() > kMaxLine) {
      throw Error(ErrorKind::input, "C63-Y4M-HEADER", "the Y4M header is longer than 4096 bytes",
                  {.file = file->name(), .offset = file->position()});
    }
  }
  const Y4mHeader header = parse_y4m_header(line, file->name());
  if (!file->seekable()) return std::make_unique<Y4mPipeSource>(std::move(file), header, options);
  return std::make_unique<Y4mFileSource>(std::move(file), line.size() + 1, header, options);
}

}  // namespace c63
