#include "c63/frame_source.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/settings.h"
#include "io/input_file.h"
#include "io/media_module.h"
#include "io/source_parts.h"
#include "io/text.h"

namespace c63 {

template <>
std::span<const std::pair<SourceFormat, std::string_view>> names_of() {
  static constexpr std::array kNames = {
#define C63_SOURCE_FORMAT(format, text, open) std::pair{SourceFormat::format, std::string_view(text)},
#include "c63/source_formats.inc"
#undef C63_SOURCE_FORMAT
  };
  return kNames;
}

namespace {

constexpr std::string_view kY4mMagic = "YUV4MPEG2 ";

constexpr std::array<std::string_view, 4> kRawExtensions = {"yuv", "raw", "i420", "yuv420p"};

template <typename List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

SourceFormat detect(InputFile& file, const SourceOptions& options) {
  const auto start = file.peek(kY4mMagic.size());
  if (std::equal(start.begin(), start.end(), kY4mMagic.begin(), kY4mMagic.end())) return SourceFormat::y4m;
  const std::string extension = extension_of(options.path);
  if (contains(kRawExtensions, extension)) return SourceFormat::raw;
  const bool size_given = options.width != 0 || options.height != 0;
  return size_given && !is_container_extension(extension) ? SourceFormat::raw : SourceFormat::av;
}

/// See adapt().
class AdaptedSource final : public FrameSource {
 public:
  AdaptedSource(std::shared_ptr<FrameSource> source, SourceAdaptation how)
      : source_(std::move(source)), how_(std::move(how)), position_(how_.position != nullptr ? *how_.position : own_position_) {}

  VideoFormat format() const override { return source_->format(); }
  bool seekable() const override { return source_->seekable(); }
  bool live() const override { return source_->live(); }
  bool concurrent() const override { return source_->concurrent() && !how_.take; }
  std::optional<std::int64_t> frame_count() const override {
    return how_.has_count ? how_.count : part_of(source_->frame_count());
  }
  std::optional<std::int64_t> expected_frame_count() const override {
    return how_.has_count ? how_.count : part_of(source_->expected_frame_count());
  }
  void stop_waiting() override { source_->stop_waiting(); }
  bool in_host_memory() const override { return source_->in_host_memory(); }
  std::shared_ptr<FilmDevice> film_device() const override { return source_->film_device(); }
  bool full_range() const override { return source_->full_range(); }
  std::span<const std::uint8_t> in_place(std::int64_t index) override {
    return has(index) && !how_.take ? source_->in_place(how_.first + index) : std::span<const std::uint8_t>();
  }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (!has(index)) return false;
    try {
      if (!source_->seekable() && !drop_until(how_.first + index, frame)) return false;
      if (!source_->read(how_.first + index, frame)) return false;
    } catch (const Error&) {
      if (how_.stop.stop_requested()) return false;
      throw;
    }
    if (!source_->seekable()) position_ = how_.first + index + 1;
    if (how_.take) how_.take(index);
    return true;
  }

  std::int64_t skip_towards(std::int64_t next, std::int64_t index) override {
    position_ = source_->skip_towards(position_ < how_.first ? position_ : how_.first + next, how_.first + index);
    // The source may have skipped only to a frame before frame 0 of this source. Then read() drops the frames between.
    return std::max(position_ - how_.first, next);
  }

 private:
  [[nodiscard]] bool has(std::int64_t index) const { return index >= 0 && (how_.count < 0 || index < how_.count); }

  /// Skips or reads the frames of a source that cannot seek, up to frame `until`. Returns false if they are not there.
  bool drop_until(std::int64_t until, std::span<std::uint8_t> frame) {
    if (position_ < how_.first) position_ = source_->skip_towards(position_, how_.first);
    for (; position_ < until; ++position_) {
      if (!source_->read(position_, frame)) return false;
    }
    return true;
  }

  /// Returns how many of `all` frames this source has.
  [[nodiscard]] std::optional<std::int64_t> part_of(std::optional<std::int64_t> all) const {
    if (!all) return std::nullopt;
    const std::int64_t rest = std::max<std::int64_t>(0, *all - how_.first);
    return how_.count < 0 ? rest : std::min(rest, how_.count);
  }

  std::shared_ptr<FrameSource> source_;
  SourceAdaptation how_;
  std::int64_t own_position_ = 0;
  std::int64_t& position_;  ///< if the source cannot seek: the next frame that it gives
};

}  // namespace

std::unique_ptr<FrameSource> open_frame_source(const SourceOptions& options) {
  return open_frame_source(std::make_unique<InputFile>(options.path, options.stop), options);
}

std::unique_ptr<FrameSource> open_frame_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  if (options.width < 0 || options.height < 0 || (options.width == 0) != (options.height == 0)) {
    throw Error(ErrorKind::usage, "C63-SIZE-ZERO",
                "picture size " + size_text(options.width, options.height) + ": both sides must be positive",
                {.file = file->name()});
  }
  static constexpr std::array kOpen = {
#define C63_SOURCE_FORMAT(format, text, open) &open,
#include "c63/source_formats.inc"
#undef C63_SOURCE_FORMAT
  };
  const std::string name = file->name();
  auto source = kOpen[static_cast<std::size_t>(options.format)](std::move(file), options);
  const VideoFormat found = source->format();
  if (options.width != 0 && (found.width != options.width || found.height != options.height)) {
    throw Error(ErrorKind::usage, "C63-SIZE-MISMATCH",
                "the video is " + size_text(found.width, found.height) + ", not " +
                    size_text(options.width, options.height) + " as requested; c63 does not scale",
                {.file = name});
  }
  return source;
}

std::unique_ptr<FrameSource> open_detected_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  SourceOptions detected = options;
  detected.format = detect(*file, options);
  return open_frame_source(std::move(file), detected);
}

std::unique_ptr<FrameSource> clip_frames(std::unique_ptr<FrameSource> source, std::int64_t first, std::int64_t count) {
  if (first < 0) {
    throw Error(ErrorKind::usage, "C63-SEEK-RANGE", "the first frame must not be negative: " + std::to_string(first));
  }
  return adapt(std::move(source), {.first = first, .count = count});
}

std::unique_ptr<FrameSource> adapt(std::shared_ptr<FrameSource> source, SourceAdaptation how) {
  return std::make_unique<AdaptedSource>(std::move(source), std::move(how));
}

std::unique_ptr<FrameSource> open_media_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  const std::string name = file->name();
  const MediaModule* module = nullptr;
  try {
    module = &ffmpeg_module(options.module_folder);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw error.at({.file = name});
    throw Error(error.kind(), error.id(), "neither raw video nor Y4M; " + error.message(), {.file = name});
  }
  return module->open(make_byte_source(std::move(file)), options, [limits = options.limits, name](int width, int height) {
    check_picture_size(width, height, limits, name);
  });
}

void check_picture_size(int width, int height, const Limits& limits, const std::string& file) {
  try {
    validate(EncoderSettings{.coding = {.width = width, .height = height}, .execution = {.limits = limits}});
  } catch (const Error& error) {
    throw error.at({.file = file});
  }
  if (frame_bytes(width, height) > limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "a frame of " + size_text(width, height) + " takes " + bytes_text(frame_bytes(width, height)) +
                    "; the limit is " + bytes_text(limits.max_memory),
                {.file = file});
  }
}

void warn(const SourceOptions& options, const std::string& message) {
  if (options.warn) options.warn(message);
}

std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words(1);
  for (char c : path.substr(path.rfind('/') + 1)) {  // if there is no '/', npos + 1 is 0
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    if (is_word) words.back() += c;
    if (!is_word && !words.back().empty()) words.emplace_back();
  }
  return words;
}

std::optional<std::pair<int, int>> size_from_name(const std::string& path) {
  constexpr std::array kNames = {std::pair{std::string_view("qcif"), std::pair{176, 144}},
                                 std::pair{std::string_view("cif"), std::pair{352, 288}},
                                 std::pair{std::string_view("4cif"), std::pair{704, 576}},
                                 std::pair{std::string_view("sif"), std::pair{352, 240}},
                                 std::pair{std::string_view("qvga"), std::pair{320, 240}},
                                 std::pair{std::string_view("vga"), std::pair{640, 480}},
                                 std::pair{std::string_view("720p"), std::pair{1280, 720}},
                                 std::pair{std::string_view("1080p"), std::pair{1920, 1080}},
                                 std::pair{std::string_view("2160p"), std::pair{3840, 2160}}};
  const std::vector<std::string> words = words_of(path);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // The last size counts. A number next to letters, as in 2x2tiles, is a size only if no other word is one.
  for (const bool strict : {true, false}) {
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
      for (std::size_t x = word->size(); x-- > 1;) {
        if ((*word)[x] != 'x') continue;
        std::size_t from = x;
        std::size_t to = x + 1;
        while (from > 0 && is_digit((*word)[from - 1])) --from;
        while (to < word->size() && is_digit((*word)[to])) ++to;
        if (from == x || to == x + 1 || x - from > 5 || to - x > 6) continue;
        if (strict && (from > 0 || to < word->size())) continue;
        const int width = std::stoi(word->substr(from, x - from));
        const int height = std::stoi(word->substr(x + 1, to - x - 1));
        if (width > 0 && height > 0) return std::pair{width, height};
      }
    }
  }
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    for (const auto& [name, size] : kNames) {
      if (*word == name) return size;
    }
  }
  return std::nullopt;
}

}  // namespace c63
