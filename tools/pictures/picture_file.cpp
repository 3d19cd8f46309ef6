#include "pictures/picture_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>

#include "c63/error.h"
#include "c63/picture.h"
#include "common/page_text.h"
#include "io/av_fault.h"
#include "io/av_log.h"
#include "io/output_file.h"

#if defined(C63_HAVE_FFMPEG)
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
}

#include <memory>
#include <new>
#endif

namespace c63::tools {

#if defined(C63_HAVE_FFMPEG)
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(&object);
  }
};

/// `code` is what a function of FFmpeg returned.
void require(int code, const char* what) {
  if (is_av_memory_fault(code, 0)) throw std::bad_alloc();
  if (code < 0) throw Error(ErrorKind::internal, "C63-PNG", fmt::format("cannot encode a picture: {} failed", what));
}

template <typename T>
void require_memory(const T& allocated) {
  if (!allocated) throw std::bad_alloc();
}

/// One picture by an encoder of FFmpeg's, which `prepare` may set up before it opens. `fill` gives the frame its samples;
/// `take` gets the bytes.
template <typename Prepare, typename Fill, typename Take>
void encode_picture(AVCodecID id, AVPixelFormat format, int width, int height, const Prepare& prepare, const Fill& fill,
                    const Take& take) {
  const AVCodec* codec = avcodec_find_encoder(id);
  capture_av_log();
  if (codec == nullptr) {
    throw Error(ErrorKind::usage, "C63-NO-PNG",
                fmt::format("this FFmpeg has no {} encoder; write .ppm", id == AV_CODEC_ID_PNG ? "PNG" : "JPEG"));
  }
  const std::unique_ptr<AVCodecContext, Deleter<avcodec_free_context>> context(avcodec_alloc_context3(codec));
  require_memory(context);
  context->width = width;
  context->height = height;
  context->pix_fmt = format;
  context->time_base = {1, 25};
  context->thread_count = 1;
  prepare(*context);
  require(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2");

  const std::unique_ptr<AVFrame, Deleter<av_frame_free>> frame(av_frame_alloc());
  require_memory(frame);
  frame->width = width;
  frame->height = height;
  frame->format = format;
  frame->quality = context->global_quality;
  fill(*frame);
  const std::unique_ptr<AVPacket, Deleter<av_packet_free>> packet(av_packet_alloc());
  require_memory(packet);
  require(avcodec_send_frame(context.get(), frame.get()), "avcodec_send_frame");
  require(avcodec_send_frame(context.get(), nullptr), "avcodec_send_frame");
  require(avcodec_receive_packet(context.get(), packet.get()), "avcodec_receive_packet");
  take(std::span<const std::uint8_t>(packet->data, static_cast<std::size_t>(packet->size)));
}

std::vector<std::uint8_t> copied(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

/// `take` gets the picture as PNG. It is coded from where it lies: a copy of a large one would take as much again.
template <typename Take>
void encode_as_png(const Image& image, const Take& take) {
  const auto row_bytes = static_cast<std::int64_t>(image.width()) * 3;
  // What FFmpeg can count.
  if ((8 * row_bytes + 1024) * (image.height() + 128) > std::int64_t{8} * INT_MAX) {
    throw Error(ErrorKind::limit, "C63-PICTURE-SIZE",
                fmt::format("FFmpeg writes no PNG of {}x{} pixels; write .ppm, or a smaller picture", image.width(), image.height()));
  }
  encode_picture(
      AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24, image.width(), image.height(), [](AVCodecContext&) {},
      [&](AVFrame& frame) {
        auto* const samples = const_cast<std::uint8_t*>(image.bytes().data());
        frame.buf[0] = av_buffer_create(samples, image.bytes().size(), [](void*, std::uint8_t*) {}, nullptr, AV_BUFFER_FLAG_READONLY);
        require_memory(frame.buf[0]);
        frame.data[0] = samples;
        frame.linesize[0] = static_cast<int>(row_bytes);
      },
      take);
}

/// Samples of video range stretched to all of 0..255, which JPEG has: `levels` from black, or either side of 128.
std::array<std::uint8_t, 256> stretched(int middle, int levels, int to_middle) {
  std::array<std::uint8_t, 256> table{};
  for (int v = 0; v < 256; ++v) {
    table[static_cast<std::size_t>(v)] =
        static_cast<std::uint8_t>(std::clamp(to_middle + ((v - middle) * 510 + levels) / (2 * levels), 0, 255));
  }
  return table;
}

/// `quality` is 2, the best, to 31; `sample` tells those of a plane by x and y.
template <typename SampleAt>
std::vector<std::uint8_t> encode_as_jpeg(int width, int height, int quality, const SampleAt& sample) {
  std::vector<std::uint8_t> jpeg;
  encode_picture(
      AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P, width, height,
      [&](AVCodecContext& context) {
        context.flags |= AV_CODEC_FLAG_QSCALE;
        context.global_quality = FF_QP2LAMBDA * quality;
      },
      [&](AVFrame& frame) {
        require(av_frame_get_buffer(&frame, 0), "av_frame_get_buffer");
        for (int p = 0; p < 3; ++p) {
          const int columns = p == 0 ? width : (width + 1) / 2;
          const int rows = p == 0 ? height : (height + 1) / 2;
          for (int y = 0; y < rows; ++y) {
            std::uint8_t* to = frame.data[p] + static_cast<std::ptrdiff_t>(y) * frame.linesize[p];
            for (int x = 0; x < columns; ++x) to[x] = sample(p, x, y);
          }
        }
      },
      [&](std::span<const std::uint8_t> bytes) { jpeg = copied(bytes); });
  return jpeg;
}

}  // namespace

bool can_write_png() {
  return avcodec_find_encoder(AV_CODEC_ID_PNG) != nullptr && avcodec_find_encoder(AV_CODEC_ID_MJPEG) != nullptr;
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  std::vector<std::uint8_t> png;
  encode_as_png(image, [&](std::span<const std::uint8_t> bytes) { png = copied(bytes); });
  return png;
}

std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> samples, int width, int height) {
  const int quality = width * height < 500'000 ? 5 : 9;  // large pictures are looked at from further away
  static const auto kLuma = stretched(16, 219, 0);
  static const auto kChroma = stretched(128, 224, 128);
  const auto planes = split_planes(samples, width, height);
  const bool colour = width % 2 == 0 && height % 2 == 0;
  return encode_as_jpeg(width, height, quality, [&](int plane, int x, int y) -> std::uint8_t {
    if (plane > 0 && !colour) return 128;
    const int columns = plane == 0 ? width : width / 2;
    const std::uint8_t sample = planes[static_cast<std::size_t>(plane)][static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)];
    return plane == 0 ? kLuma[sample] : kChroma[sample];
  });
}

std::vector<std::uint8_t> encode_jpeg(const Image& image, std::size_t most_bytes) {
  // JFIF's luma and chroma, in 256ths; a sample of chroma is the mean of up to four pixels.
  const auto value = [&](int plane, int x, int y) {
    static constexpr std::array<std::array<int, 3>, 3> kWeights = {{{77, 150, 29}, {-43, -85, 128}, {128, -107, -21}}};
    const Colour c = image.at(x, y);
    const auto& w = kWeights[static_cast<std::size_t>(plane)];
    return w[0] * c[0] + w[1] * c[1] + w[2] * c[2];
  };
  const auto sample = [&](int plane, int x, int y) {
    if (plane == 0) return static_cast<std::uint8_t>(value(0, x, y) >> 8);
    const int right = std::min(2 * x + 1, image.width() - 1);
    const int below = std::min(2 * y + 1, image.height() - 1);
    const int sum = value(plane, 2 * x, 2 * y) + value(plane, right, 2 * y) + value(plane, 2 * x, below) + value(plane, right, below);
    return static_cast<std::uint8_t>(std::clamp(128 + sum / 1024, 0, 255));
  };
  std::vector<std::uint8_t> jpeg;
  for (const int quality : {3, 4, 6, 9, 13, 19, 31}) {
    jpeg = encode_as_jpeg(image.width(), image.height(), quality, sample);
    if (jpeg.size() <= most_bytes) break;
  }
  return jpeg;
}
#else
bool can_write_png() { return false; }

std::vector<std::uint8_t> encode_png(const Image& /*image*/) {
  throw Error(ErrorKind::usage, "C63-NO-PNG", "this c63 was built without FFmpeg, which writes PNG; write .ppm");
}

std::vector<std::uint8_t> encode_jpeg(std::span<const std::uint8_t> /*samples*/, int /*width*/, int /*height*/) {
  throw Error(ErrorKind::usage, "C63-NO-PNG", "this c63 was built without FFmpeg, which writes JPEG");
}

std::vector<std::uint8_t> encode_jpeg(const Image& /*image*/, std::size_t /*most_bytes*/) { return encode_jpeg({}, 0, 0); }
#endif

void check_picture_name(const std::string& path) {
  if (path.ends_with(".ppm")) return;
  if (!path.ends_with(".png")) {
    throw Error(ErrorKind::usage, "C63-PICTURE-NAME", "pictures are written as .png or .ppm, by their name", {.file = path});
  }
  if (!can_write_png()) {
    throw Error(ErrorKind::usage, "C63-NO-PNG", "this c63 cannot write PNG (built without FFmpeg); write .ppm", {.file = path});
  }
}

std::uint64_t memory_to_save(const std::string& path, std::uint64_t image_bytes) {
  // What FFmpeg codes and the packet it hands out; deflate makes nothing longer by more than a few bytes a block.
  return path.ends_with(".ppm") ? 0 : 2 * (image_bytes + image_bytes / 64);
}

void save_picture(const std::string& path, const Image& image, Durability durability) {
  check_picture_name(path);
  OutputFile file(path, durability);
  if (path.ends_with(".ppm")) {
    file.write(fmt::format("P6\n{} {}\n255\n", image.width(), image.height()));
    file.write(image.bytes());
  } else {
#if defined(C63_HAVE_FFMPEG)
    encode_as_png(image, [&](std::span<const std::uint8_t> bytes) { file.write(bytes); });
#endif
  }
  file.commit();
}

std::string data_uri(const std::string& kind, const std::vector<std::uint8_t>& picture) {
  return "data:image/" + kind + ";base64," + base64(picture);
}

}  // namespace c63::tools
