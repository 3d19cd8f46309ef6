#include "compare/video_input.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "c63/decoder.h"
#include "c63/error.h"
#include "io/byte_source.h"
#include "pipeline/stream_reader.h"

namespace c63::tools {
namespace {

/// Frames of a c63 stream, decoded one after another.
class StreamSource final : public FrameSource {
 public:
  explicit StreamSource(const SourceOptions& options)
      : path_(options.path), bytes_(open_byte_source(options.path)), reader_(*bytes_, options.limits),
        decoder_(DecoderSettings{.execution = {.limits = options.limits}}) {
    if (options.rate) format_.rate = *options.rate;
    next_ = decode_next();
    if (!next_) throw Error(ErrorKind::input, "C63-STREAM-EMPTY", "the stream is empty", {.file = path_});
    format_.width = next_->width;
    format_.height = next_->height;
  }

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  [[nodiscard]] bool seekable() const override { return false; }

  [[nodiscard]] bool read(std::int64_t /*index*/, std::span<std::uint8_t> frame) override {
    if (!next_) next_ = decode_next();
    if (!next_) return false;
    if (next_->width != format_.width || next_->height != format_.height) {
      throw Error(ErrorKind::input, "C63-SIZE-CHANGE", "the picture size changes", {.file = path_, .frame = next_->index});
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
  std::unique_ptr<ByteSource> bytes_;
  StreamReader reader_;
  FrameDecoder decoder_;
  VideoFormat format_;
  std::optional<DecodedFrame> next_;
};

}  // namespace

std::unique_ptr<FrameSource> open_video(const SourceOptions& options) {
  if (options.format == SourceFormat::automatic && options.path.ends_with(".c63")) {
    return std::make_unique<StreamSource>(options);
  }
  return open_frame_source(options);
}

}  // namespace c63::tools
