#include "c63/frame_source.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "c63/error.h"
#include "io/container_names.h"
#include "io/skipping_source.h"
#include "io/source_parts.h"
#include "io/text.h"

namespace c63 {
namespace {

constexpr std::string_view kY4mMagic = "YUV4MPEG2 ";

constexpr std::array<std::string_view, 4> kRawExtensions = {"yuv", "raw", "i420", "yuv420p"};

constexpr std::array kFormatNames = {
#define C63_SOURCE_FORMAT(format, text) std::string_view(text),
#include "c63/source_formats.inc"
#undef C63_SOURCE_FORMAT
};

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

class ClippedSource final : public FrameSource {
 public:
  ClippedSource(std::unique_ptr<FrameSource> source, std::int64_t first, std::int64_t count)
      : source_(std::move(source)), first_(first), count_(count) {}

  VideoFormat format() const override { return source_->format(); }
  bool seekable() const override { return source_->seekable(); }
  bool live() const override { return source_->live(); }
  bool concurrent() const override { return source_->concurrent(); }

  std::optional<std::int64_t> frame_count() const override { return part_of(source_->frame_count()); }
  std::optional<std::int64_t> expected_frame_count() const override { return part_of(source_->expected_frame_count()); }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index < 0 || (count_ >= 0 && index >= count_)) return false;
    if (!source_->seekable()) {
      if (next_ < first_) next_ = source_->skip_towards(next_, first_);
      for (; next_ < first_; ++next_) {
        if (!source_->read(next_, frame)) return false;
      }
    }
    return source_->read(first_ + index, frame);
  }

  std::int64_t skip_towards(std::int64_t next, std::int64_t index) override {
    next_ = source_->skip_towards(next_ < first_ ? next_ : first_ + next, first_ + index);
    // The source may have skipped only to a frame before first_, that is, before frame 0 of this source. Then read()
    // drops the frames in between.
    return std::max(next_ - first_, next);
  }

  void stop_waiting() override { source_->stop_waiting(); }
  std::span<const std::uint8_t> in_place(std::int64_t index) override {
    if (index < 0 || (count_ >= 0 && index >= count_)) return {};
    return source_->in_place(first_ + index);
  }
  bool in_host_memory() const override { return source_->in_host_memory(); }

 private:
  /// Returns how many of `all` frames this source has.
  [[nodiscard]] std::optional<std::int64_t> part_of(std::optional<std::int64_t> all) const {
    if (!all) return std::nullopt;
    const std::int64_t rest = std::max<std::int64_t>(0, *all - first_);
    return count_ < 0 ? rest : std::min(rest, count_);
  }

  std::unique_ptr<FrameSource> source_;
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t next_ = 0;  ///< if the source cannot seek: the next frame to be dropped, up to first_
};

std::unique_ptr<FrameSource> open_container(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  if (!options.seek_table || options.seek_table->sums.empty()) return open_media_source(std::move(file), options);
  SourceOptions plain = options;
  plain.seek_table = nullptr;
  plain.warn = nullptr;  // the warnings were already given when the table was filled
  return make_skipping_source(open_media_source(std::move(file), plain), options);
}

}  // namespace

std::string_view name(SourceFormat format) { return kFormatNames.at(static_cast<std::size_t>(format)); }

std::optional<SourceFormat> source_format_from(std::string_view name) {
  const auto found = std::ranges::find(kFormatNames, name);
  if (found == kFormatNames.end()) return std::nullopt;
  return static_cast<SourceFormat>(found - kFormatNames.begin());
}

std::vector<SourceFormat> all_source_formats() {
  return {
#define C63_SOURCE_FORMAT(format, text) SourceFormat::format,
#include "c63/source_formats.inc"
#undef C63_SOURCE_FORMAT
  };
}

std::unique_ptr<FrameSource> open_frame_source(const SourceOptions& options) {
  return open_frame_source(std::make_unique<InputFile>(options.path, options.stop), options);
}

std::unique_ptr<FrameSource> open_frame_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  if (options.width < 0 || options.height < 0 || (options.width == 0) != (options.height == 0)) {
    throw Error(ErrorKind::usage, "C63-SIZE-ZERO",
                "picture size " + size_text(options.width, options.height) + ": both sides must be positive",
                {.file = file->name()});
  }
  const SourceFormat format = options.format == SourceFormat::automatic ? detect(*file, options) : options.format;
  if (format == SourceFormat::raw) return open_raw_source(std::move(file), options);
  const std::string name = file->name();
  auto source = format == SourceFormat::y4m ? open_y4m_source(std::move(file), options)
                                            : open_container(std::move(file), options);
  const VideoFormat found = source->format();
  if (options.width != 0 && (found.width != options.width || found.height != options.height)) {
    throw Error(ErrorKind::usage, "C63-SIZE-MISMATCH",
                "the video is " + size_text(found.width, found.height) + ", not " +
                    size_text(options.width, options.height) + " as requested; c63 does not scale",
                {.file = name});
  }
  return source;
}

std::unique_ptr<FrameSource> clip_frames(std::unique_ptr<FrameSource> source, std::int64_t first, std::int64_t count) {
  if (first < 0) {
    throw Error(ErrorKind::usage, "C63-SEEK-RANGE", "the first frame must not be negative: " + std::to_string(first));
  }
  return std::make_unique<ClippedSource>(std::move(source), first, count);
}

std::optional<std::pair<int, int>> size_from_name(const std::string& path) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_word = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); };
  std::string name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (std::size_t x = name.size(); x-- > 1;) {
    if (name[x] != 'x') continue;
    std::size_t from = x;
    std::size_t to = x + 1;
    while (from > 0 && is_digit(name[from - 1])) --from;
    while (to < name.size() && is_digit(name[to])) ++to;
    if (from == x || to == x + 1 || x - from > 5 || to - x > 6) continue;
    const int width = std::stoi(name.substr(from, x - from));
    const int height = std::stoi(name.substr(x + 1, to - x - 1));
    if (width > 0 && height > 0) return std::pair{width, height};
  }
  constexpr std::array kNames = {std::pair{std::string_view("qcif"), std::pair{176, 144}},
                                 std::pair{std::string_view("cif"), std::pair{352, 288}},
                                 std::pair{std::string_view("4cif"), std::pair{704, 576}},
                                 std::pair{std::string_view("sif"), std::pair{352, 240}},
                                 std::pair{std::string_view("qvga"), std::pair{320, 240}},
                                 std::pair{std::string_view("vga"), std::pair{640, 480}},
                                 std::pair{std::string_view("720p"), std::pair{1280, 720}},
                                 std::pair{std::string_view("1080p"), std::pair{1920, 1080}},
                                 std::pair{std::string_view("2160p"), std::pair{3840, 2160}}};
  // Tries the words of the name, the last one first.
  for (std::size_t end = name.size(); end > 0;) {
    std::size_t begin = end;
    while (begin > 0 && is_word(name[begin - 1])) --begin;
    for (const auto& [word, size] : kNames) {
      if (std::string_view(name).substr(begin, end - begin) == word) return size;
    }
    end = begin > 0 ? begin - 1 : 0;
  }
  return std::nullopt;
}

}  // namespace c63
