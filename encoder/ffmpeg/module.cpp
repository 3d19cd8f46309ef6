// The entry function of the module for FFmpeg, and the MediaModule that it returns. The library calls them as
// io/media_module.h describes.

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <limits>
#include <utility>

#include "ffmpeg/av_source.h"
#include "ffmpeg/av_watch.h"
#include "ffmpeg/frame_converter.h"
#include "ffmpeg/picture_encoder.h"
#include "io/media_module.h"

namespace c63 {
namespace {

/// A converter that also owns the watch that it needs.
class WatchedConverter final : public MediaConverter {
 public:
  WatchedConverter(const std::string& pixel_format, int width, int height)
      : watch_(AvWatch::make(std::numeric_limits<std::uint64_t>::max())),
        converter_(*watch_, av_get_pix_fmt(pixel_format.c_str()), width, height, false) {}

  void convert_packed(std::span<const std::uint8_t> picture, std::span<std::uint8_t> frame) override {
    converter_.convert_packed(picture, frame);
  }

 private:
  AvWatchPointer watch_;
  FrameConverter converter_;
};

class FfmpegModule final : public MediaModule {
 public:
  std::unique_ptr<MediaSource> open_source(std::unique_ptr<MediaInput> input,
                                           const SourceOptions& options) const override {
    return open_av_source(std::move(input), options);
  }
  std::unique_ptr<MediaConverter> make_converter(const std::string& pixel_format, int width,
                                                 int height) const override {
    return std::make_unique<WatchedConverter>(pixel_format, width, height);
  }
  bool can_encode(PictureCode code) const override { return can_encode_picture(code); }
  void encode(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
              const std::function<void(std::span<const std::uint8_t>)>& take) const override {
    encode_picture(code, samples, width, height, quality, take);
  }
  void keep_messages() const override { AvWatch::keep_messages(); }
  void limit_allocations(std::uint64_t bytes) const override { AvWatch::limit_allocations(bytes); }
};

}  // namespace
}  // namespace c63

extern "C" __attribute__((visibility("default"))) const c63::MediaModule* c63_media_module(const char* wanted,
                                                                                           const char** has) {
  static const std::string version = c63::media_version();
  static const c63::FfmpegModule module;
  *has = version.c_str();
  return version == wanted ? &module : nullptr;
}
