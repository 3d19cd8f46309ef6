#include "common/video_input.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "c63/decoder.h"
#include "c63/error.h"
#include "decode/stream_reader.h"
#include "io/input_file.h"
#include "io/source_parts.h"
#include "io/text.h"

namespace c63::tools {
namespace {

constexpr std::string_view kY4mMagic = "YUV4MPEG2 ";

/// Looks at the first two bytes, and at more only if these begin a stream. It does not wait for more bytes of other input,
/// because a camera may send small frames slowly.
bool starts_like_stream(InputFile& file) {
  constexpr std::array<std::uint8_t, 2> kStartOfImage = {0xFF, 0xD8};
  return std::ranges::equal(file.peek(kStartOfImage.size()), kStartOfImage) &&
         c63::starts_like_stream(file.peek(kStreamStart));
}

/// Frames of a c63 stream, decoded one after another.
class StreamSource final : public FrameSource {
 public:
  StreamSource(std::unique_ptr<InputFile> file, const SourceOptions& options)
      : path_(file->name()),
        live_(!file->seekable()),
        bytes_(make_byte_source(std::move(file))),
        reader_(*bytes_, options.limits),
        decoder_(DecoderSettings{.execution = {.limits = options.limits}}) {
    if (options.rate) format_.rate = *options.rate;
    next_ = decode_next();
    if (!next_) throw Error(ErrorKind::input, "C63-STREAM-EMPTY", "the stream is empty", {.file = path_});
    format_.width = next_->width;
    format_.height = next_->height;
    if (options.width != 0 && (format_.width != options.width || format_.height != options.height)) {
      throw Error(ErrorKind::usage, "C63-SIZE-MISMATCH",
                  "the stream is " + size_text(format_.width, format_.height) + ", not " +
                      size_text(options.width, options.height) + " as requested; c63 does not scale",
                  {.file = path_});
    }
  }

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] bool live() const override { return live_; }

  [[nodiscard]] bool read(std::int64_t /*index*/, std::span<std::uint8_t> frame) override {
    if (!next_) next_ = decode_next();
    if (!next_) return false;
    if (next_->width != format_.width || next_->height != format_.height) {
      throw Error(ErrorKind::input, "C63-SIZE-CHANGE", "the picture size changes",
                  {.file = path_, .frame = next_->index});
    }
    std::ranges::copy(next_->picture, frame.begin());
    next_.reset();
    return true;
  }

 private:
  std::optional<DecodedFrame> decode_next() {
    try {
      const auto coded = reader_.next();
      if (!coded) return std::nullopt;
      try {
        DecodedFrame frame = decoder_.decode(coded->bytes);
        frame.index = coded->index;
        return frame;
      } catch (const Error& error) {
        throw error.at({.frame = coded->index});
      }
    } catch (const Error& error) {
      throw error.at({.file = path_});
    }
  }

  std::string path_;
  bool live_;
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  FrameDecoder decoder_;
  VideoFormat format_;
  std::optional<DecodedFrame> next_;
};

}  // namespace

bool is_stream_file(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) return false;
  InputFile file(path);
  return starts_like_stream(file);
}

bool is_stream(InputFile& file, const std::string& path) {
  return starts_like_stream(file) ||
         (extension_of(path) == "c63" && !std::ranges::equal(file.peek(kY4mMagic.size()), kY4mMagic));
}

std::unique_ptr<FrameSource> open_video(const SourceOptions& options) {
  return open_video(std::make_unique<InputFile>(options.path, options.stop), options);
}

std::unique_ptr<FrameSource> open_video(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  if (options.format == SourceFormat::automatic && is_stream(*file, options.path)) {
    return std::make_unique<StreamSource>(std::move(file), options);
  }
  return open_frame_source(std::move(file), options);
}

}  // namespace c63::tools
