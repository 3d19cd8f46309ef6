#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "codec/geometry.h"
#include "io/copy_padded.h"
#include "io/source_parts.h"
#include "io/text.h"

namespace c63 {
namespace {

constexpr std::size_t kMaxLine = 4096;  // the longest header or FRAME line of Y4M; usual lines are much shorter

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The header line of a Y4M file.
struct Y4mHeader {
  VideoFormat format;
  bool full_range = false;
  std::string chroma = "420jpeg";  ///< the C parameter: layout and depth of the samples
  std::size_t bytes = 0;           ///< length of the line, with its newline
};

/// Parses a text that consists only of a number >= 0. Returns false for other text.
bool parse_number(std::string_view text, int& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool parse_ratio(std::string_view text, FrameRate& rate) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && parse_number(text.substr(0, colon), rate.numerator) &&
         parse_number(text.substr(colon + 1), rate.denominator);
}

/// Reads the header without taking it from the file. Throws Error (input, C63-Y4M-HEADER) with the offset of the fault.
Y4mHeader peek_header(InputFile& file) {
  const auto fail = [&](const std::string& what, std::size_t offset) -> Error {
    return {ErrorKind::input, "C63-Y4M-HEADER", what, {.file = file.name(), .offset = static_cast<std::int64_t>(offset)}};
  };
  std::string_view line;
  for (std::size_t wanted = 1; line.empty() || line.back() != '\n'; ++wanted) {
    line = text_of(file.peek(wanted));
    if (line.size() < wanted) throw fail("the Y4M header has no end", line.size());
    if (line.size() > kMaxLine) throw fail("the Y4M header is longer than 4096 bytes", line.size());
  }
  Y4mHeader header;
  header.bytes = line.size();
  line.remove_suffix(1);
  std::size_t at = line.find(' ');
  if (line.substr(0, at) != "YUV4MPEG2") throw fail("no Y4M header", 0);
  while (at < line.size()) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    const std::string_view parameter = line.substr(at, line.find(' ', at) - at);
    const std::string_view value = parameter.substr(1);
    const auto require = [&](bool good, const char* what) {
      if (!good) throw fail(std::string("Y4M header: ") + what + " '" + std::string(parameter.substr(0, 40)) + "'", at);
    };
    switch (parameter[0]) {
      case 'W':
        require(parse_number(value, header.format.width) && header.format.width > 0, "bad width");
        break;
      case 'H':
        require(parse_number(value, header.format.height) && header.format.height > 0, "bad height");
        break;
      case 'F': {
        FrameRate rate;
        require(parse_ratio(value, rate), "bad frame rate");
        if (rate.numerator != 0 && rate.denominator != 0) header.format.rate = rate;  // 0:0 means "unknown"
        break;
      }
      case 'C':
        require(!value.empty(), "bad colour space");
        header.chroma = value;
        break;
      case 'X':
        if (value == "COLORRANGE=FULL") header.full_range = true;
        break;
      case 'I':  // interlacing and sample aspect do not change the samples
      case 'A':
        break;
      default:
        require(false, "unknown parameter");
    }
    at += parameter.size();
  }
  if (header.format.width == 0 || header.format.height == 0) throw fail("Y4M header without a picture size", 0);
  return header;
}

/// Returns the length of the FRAME line at the start of `bytes`, including the newline; 0 if there is no such line.
std::size_t frame_line_length(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view kFrame = "FRAME";
  const std::string_view text = text_of(bytes);
  const std::size_t end = text.find('\n');
  if (!text.starts_with(kFrame) || end == std::string_view::npos) return 0;
  return end == kFrame.size() || text[kFrame.size()] == ' ' ? end + 1 : 0;
}

/// 8-bit 4:2:0 frames as they are stored in a file or a pipe, without (raw) or with a line before each (Y4M). In a
/// regular file, any number of threads may call read() at once. FRAME lines may have parameters, so their lengths
/// differ, and the starts of frames must be searched for. The search goes only up to the frame that is needed.
class StoredSource final : public FrameSource {
 public:
  /// `stored` has the size in the file; an odd side of Y4M is padded.
  StoredSource(std::unique_ptr<InputFile> file, const VideoFormat& stored, const SourceOptions& options,
               const std::optional<Y4mHeader>& y4m)
      : file_(std::move(file)), options_(options), stored_(stored), format_(stored), is_y4m_(y4m.has_value()) {
    if (y4m) {
      next_byte_ = static_cast<std::int64_t>(y4m->bytes);
      full_range_ = y4m->full_range;
      format_.width = even_side(stored.width);
      format_.height = even_side(stored.height);
      format_.repeated_columns = format_.width - stored.width;
      format_.repeated_rows = format_.height - stored.height;
    }
    is_padded_ = format_.width != stored.width || format_.height != stored.height;
    const auto width = static_cast<std::size_t>(stored.width);
    const auto height = static_cast<std::size_t>(stored.height);
    bytes_ = is_padded_ ? width * height + 2 * ((width + 1) / 2 * ((height + 1) / 2)) : frame_bytes(stored.width, stored.height);
    if (!is_y4m_ && file_->seekable()) raw_frames_ = *file_->size() / static_cast<std::int64_t>(bytes_);
    if (is_padded_) {
      warn(options, size_text(stored.width, stored.height) + " is padded to " + size_text(format_.width, format_.height) +
                        " by repeating the last column and row");
    }
    if (raw_frames_ && *raw_frames_ * static_cast<std::int64_t>(bytes_) != *file_->size()) report_partial_frame(*file_->size());
  }

  VideoFormat format() const override { return format_; }
  bool seekable() const override { return file_->seekable(); }
  bool concurrent() const override { return file_->seekable(); }
  bool full_range() const override { return full_range_; }

  /// A damaged last frame counts, too. Otherwise nobody would read it, and its error would not be reported.
  std::optional<std::int64_t> frame_count() const override {
    if (!is_y4m_ || !file_->seekable()) return raw_frames_;
    const std::scoped_lock lock(mutex_);
    while (find_next()) {
    }
    return std::ssize(starts_) + (fault_ ? 1 : 0);
  }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index < 0) return false;
    const auto start = file_->seekable() ? start_of(index) : go_to_next(index);
    if (!start) return false;
    std::vector<std::uint8_t> picture(is_padded_ ? bytes_ : 0);
    const std::span<std::uint8_t> samples = is_padded_ ? std::span(picture) : frame.first(bytes_);
    const std::size_t got = file_->seekable() ? file_->read_at(*start, samples) : file_->read(samples);
    if (got != bytes_) {
      const std::int64_t end = *start + static_cast<std::int64_t>(got);
      if (is_y4m_) throw truncated(index, end);
      if (file_->seekable()) {
        throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the file became shorter while it was read",
                    {.file = file_->name(), .frame = index, .offset = end});
      }
      has_ended_ = true;
      if (got > 0) report_partial_frame(end);
      return false;
    }
    if (!file_->seekable()) ++next_;
    if (is_padded_) pad(picture, frame);
    return true;
  }

 private:
  [[nodiscard]] Error truncated(std::int64_t frame, std::int64_t offset) const {
    return {ErrorKind::input, "C63-Y4M-TRUNCATED", "truncated", {.file = file_->name(), .frame = frame, .offset = offset}};
  }

  /// Returns the error for a missing FRAME line. `line` is what the file has instead.
  [[nodiscard]] Error no_frame_line(std::span<const std::uint8_t> line, std::int64_t frame, std::int64_t offset) const {
    if (line.size() < 6 && std::string_view("FRAME\n").starts_with(text_of(line))) {
      return truncated(frame, offset + std::ssize(line));
    }
    return {ErrorKind::input, "C63-Y4M-FRAME", "a FRAME line is missing here", {.file = file_->name(), .frame = frame, .offset = offset}};
  }

  /// Returns the offset of a frame's samples in a regular file; empty past the last frame.
  std::optional<std::int64_t> start_of(std::int64_t index) {
    if (raw_frames_) return index < *raw_frames_ ? std::optional(index * static_cast<std::int64_t>(bytes_)) : std::nullopt;
    const std::scoped_lock lock(mutex_);
    while (std::ssize(starts_) <= index && find_next()) {
    }
    if (std::ssize(starts_) > index) return starts_[static_cast<std::size_t>(index)];
    if (fault_ && std::ssize(starts_) == index) throw *fault_;
    return std::nullopt;
  }

  /// Finds the start of one more frame of Y4M. Returns false at the end and after an error.
  bool find_next() const {
    if (fault_) return false;
    const auto frame = std::ssize(starts_);
    std::array<std::uint8_t, 64> short_line;
    std::span<const std::uint8_t> line = std::span(short_line).first(file_->read_at(next_byte_, short_line));
    if (line.empty()) return false;
    std::size_t length = frame_line_length(line);
    std::vector<std::uint8_t> long_line;
    if (length == 0 && line.size() == short_line.size()) {
      long_line.resize(kMaxLine);
      length = frame_line_length(std::span(long_line).first(file_->read_at(next_byte_, long_line)));
    }
    const std::int64_t start = next_byte_ + static_cast<std::int64_t>(length);
    if (length == 0) {
      fault_ = no_frame_line(line, frame, next_byte_);
    } else if (start + static_cast<std::int64_t>(bytes_) > *file_->size()) {
      fault_ = truncated(frame, *file_->size());
    } else {
      starts_.push_back(start);
      next_byte_ = start + static_cast<std::int64_t>(bytes_);
    }
    return !fault_;
  }

  /// Returns the offset of the next frame's samples in a pipe, at which the pipe then is; empty at the end.
  std::optional<std::int64_t> go_to_next(std::int64_t index) {
    if (index != next_) {
      throw Error(ErrorKind::internal, "C63-SOURCE-ORDER",
                  "the program asked for a frame out of order, but a pipe gives its frames in order",
                  {.file = file_->name(), .frame = index});
    }
    if (has_ended_) return std::nullopt;
    if (!is_y4m_) return file_->position();
    const std::int64_t start = file_->position();
    std::vector<std::uint8_t> line;
    for (std::uint8_t byte = 0; byte != '\n' && line.size() < kMaxLine; line.push_back(byte)) {
      if (file_->read(std::span(&byte, 1)) == 1) continue;
      if (line.empty()) return std::nullopt;
      throw no_frame_line(line, index, start);
    }
    if (frame_line_length(line) == 0) throw no_frame_line(line, index, start);
    return file_->position();
  }

  void report_partial_frame(std::int64_t bytes) const {
    const auto each = static_cast<std::int64_t>(bytes_);
    // Rounded down, so that an incomplete frame does not look complete.
    const std::string what = std::to_string(bytes / each) + "." + std::to_string(bytes % each * 10 / each) + " frames of " +
                             size_text(stored_.width, stored_.height) + ": wrong size?";
    if (options_.strict) {
      throw Error(ErrorKind::input, "C63-RAW-PARTIAL", what,
                  {.file = file_->name(), .frame = bytes / each, .offset = bytes / each * each});
    }
    warn(options_, what + " The partial last frame is dropped");
  }

  void pad(std::span<const std::uint8_t> picture, std::span<std::uint8_t> frame) const {
    const int chroma_width = (stored_.width + 1) / 2;
    const std::size_t luma = plane_bytes(stored_.width, stored_.height, 0);
    const std::size_t chroma = (picture.size() - luma) / 2;
    const std::uint8_t* planes[3] = {picture.data(), picture.data() + luma, picture.data() + luma + chroma};
    const int pitches[3] = {stored_.width, chroma_width, chroma_width};
    copy_padded(planes, pitches, stored_.width, stored_.height, frame);
  }

  std::unique_ptr<InputFile> file_;
  SourceOptions options_;
  VideoFormat stored_;
  VideoFormat format_;
  bool is_y4m_;
  bool is_padded_ = false;
  bool full_range_ = false;
  std::size_t bytes_ = 0;  ///< of a stored frame
  std::optional<std::int64_t> raw_frames_;
  mutable std::mutex mutex_;  ///< guards the next three members, which are for Y4M in a regular file
  mutable std::int64_t next_byte_ = 0;
  mutable std::vector<std::int64_t> starts_;
  mutable std::optional<Error> fault_;
  std::int64_t next_ = 0;  ///< number of the next frame of a pipe
  bool has_ended_ = false;
};

/// Warns if the words of a file's name say that its frames are not 8-bit 4:2:0.
void check_layout_words(const SourceOptions& options) {
  static constexpr auto kOthers = std::to_array<std::string_view>(
      {"9bit",  "10bit", "12bit", "14bit", "16bit", "10le", "12le", "14le", "16le", "10be",  "12be",  "16be", "p010",
       "p016",  "p210",  "p216",  "p10",   "p12",   "p14",  "p16",  "nv12", "nv16", "nv21",  "nv24",  "yv12", "yuy2",
       "yuyv",  "uyvy",  "v210",  "rgb24", "bgr24", "422",  "444",  "422p", "444p", "i422",  "i444",  "uv410", "uv411",
       "uv440", "uv410p", "uv411p", "uv440p"});
  for (const std::string& word : words_of(options.path)) {
    const auto other = std::ranges::find_if(kOthers, [&](std::string_view name) {
      return word == name || (name.size() > 3 && word.ends_with(name)) || (word.starts_with("yuv4") && word.ends_with(name));
    });
    if (other == kOthers.end()) continue;
    warn(options, "the name says " + word + ", but raw video is read as 8-bit 4:2:0 with planes Y, U, V; convert it with "
                  "ffmpeg, or rename it");
    return;
  }
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
  check_layout_words(options);
  check_picture_size(format.width, format.height, options.limits, file->name());
  return std::make_unique<StoredSource>(std::move(file), format, options, std::nullopt);
}

std::unique_ptr<FrameSource> open_y4m_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  const Y4mHeader header = peek_header(*file);
  const std::string name = file->name();
  const auto [width, height] = std::pair(header.format.width, header.format.height);
  // Large sides are refused first, so that their rounding cannot overflow.
  if (width > kMaxSide || height > kMaxSide) check_picture_size(width, height, options.limits, name);
  check_picture_size(even_side(width), even_side(height), options.limits, name);
  // These four layouts differ only in the position of the chroma samples. FFmpeg reads all others.
  constexpr std::array<std::string_view, 4> kPlain = {"420", "420jpeg", "420mpeg2", "420paldv"};
  if (std::ranges::find(kPlain, header.chroma) == kPlain.end()) {
    try {
      return open_media_source(std::move(file), options);
    } catch (const Error& error) {
      if (error.id() != "C63-AV-OPEN") throw;
      throw Error(ErrorKind::input, "C63-Y4M-COLOUR",
                  "Y4M colour space '" + header.chroma.substr(0, 40) + "' is not supported: " + error.message(), {.file = name});
    }
  }
  std::array<std::uint8_t, kMaxLine> line;
  static_cast<void>(file->read(std::span(line).first(header.bytes)));
  VideoFormat format = header.format;
  if (options.rate) format.rate = *options.rate;
  return std::make_unique<StoredSource>(std::move(file), format, options, header);
}

}  // namespace c63
