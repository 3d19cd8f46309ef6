#include <algorithm>
#include <charconv>
#include <utility>

#include "c63/error.h"
#include "io/source_parts.h"

namespace c63 {
namespace {

/// A stream of binary PGM pictures of one size, 8 bits a sample. Chroma is grey.
class PgmSource final : public FrameSource {
 public:
  PgmSource(std::unique_ptr<InputFile> file, const SourceOptions& options) : file_(std::move(file)) {
    const auto [width, height] = read_header(0);
    check_picture_size(width, height, options.limits, file_->name());
    format_ = {.width = width, .height = height};
    if (options.rate) format_.rate = *options.rate;
    has_header_ = true;
  }

  VideoFormat format() const override { return format_; }
  bool seekable() const override { return false; }
  std::optional<std::int64_t> frame_count() const override { return std::nullopt; }

  bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (!std::exchange(has_header_, false)) {
      if (file_->peek(1).empty()) return false;
      if (read_header(index) != std::pair{format_.width, format_.height}) throw fault(index, "the size changes");
    }
    const auto luma = frame.first(static_cast<std::size_t>(format_.width) * static_cast<std::size_t>(format_.height));
    if (file_->read(luma) < luma.size()) throw fault(index, "truncated");
    std::ranges::fill(frame.subspan(luma.size()), std::uint8_t{128});
    return true;
  }

 private:
  Error fault(std::int64_t frame, const std::string& what) const {
    return {ErrorKind::input, "C63-PGM", what, {.file = file_->name(), .frame = frame}};
  }

  /// Reads "P5 width height 255" and the byte after it; blanks or newlines between.
  std::pair<int, int> read_header(std::int64_t frame) {
    int values[3] = {};
    std::string word = next_word();
    if (word != "P5") throw fault(frame, "no PGM header");
    for (int& value : values) {
      word = next_word();
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc{} || end != word.data() + word.size()) throw fault(frame, "no PGM header");
    }
    if (values[2] != 255) throw fault(frame, "not 8 bits a sample");
    return {values[0], values[1]};
  }

  std::string next_word() {
    std::string word;
    std::uint8_t byte = 0;
    while (word.size() < 8 && file_->read({&byte, 1}) == 1 && byte != ' ' && byte != '\n') word += static_cast<char>(byte);
    return word;
  }

  std::unique_ptr<InputFile> file_;
  VideoFormat format_;
  bool has_header_ = false;  ///< the next frame's header was read
};

}  // namespace

std::unique_ptr<FrameSource> open_pgm_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  return std::make_unique<PgmSource>(std::move(file), options);
}

}  // namespace c63
