#include "pictures/picture_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "c63/error.h"
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
  if (code < 0) throw Error(ErrorKind::internal, "C63-PNG", fmt::format("cannot encode PNG: {} failed", what));
}

template <typename T>
void require_memory(const T& allocated) {
  if (!allocated) throw std::bad_alloc();
}

}  // namespace

bool can_write_png() { return avcodec_find_encoder(AV_CODEC_ID_PNG) != nullptr; }

std::vector<std::uint8_t> encode_png(const Image& image) {
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  capture_av_log();
  if (codec == nullptr) throw Error(ErrorKind::usage, "C63-NO-PNG", "this FFmpeg has no PNG encoder; write .ppm");
  const std::unique_ptr<AVCodecContext, Deleter<avcodec_free_context>> context(avcodec_alloc_context3(codec));
  require_memory(context);
  context->width = image.width();
  context->height = image.height();
  context->pix_fmt = AV_PIX_FMT_RGB24;
  context->time_base = {1, 25};
  context->thread_count = 1;
  require(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2");

  const std::unique_ptr<AVFrame, Deleter<av_frame_free>> frame(av_frame_alloc());
  require_memory(frame);
  frame->width = image.width();
  frame->height = image.height();
  frame->format = AV_PIX_FMT_RGB24;
  require(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer");
  const auto row_bytes = static_cast<std::size_t>(image.width()) * 3;
  for (int y = 0; y < image.height(); ++y) {
    const auto row = image.bytes().subspan(static_cast<std::size_t>(y) * row_bytes, row_bytes);
    std::copy(row.begin(), row.end(), frame->data[0] + static_cast<std::ptrdiff_t>(y) * frame->linesize[0]);
  }
  const std::unique_ptr<AVPacket, Deleter<av_packet_free>> packet(av_packet_alloc());
  require_memory(packet);
  require(avcodec_send_frame(context.get(), frame.get()), "avcodec_send_frame");
  require(avcodec_send_frame(context.get(), nullptr), "avcodec_send_frame");
  require(avcodec_receive_packet(context.get(), packet.get()), "avcodec_receive_packet");
  return {packet->data, packet->data + packet->size};
}
#else
bool can_write_png() { return false; }

std::vector<std::uint8_t> encode_png(const Image& /*image*/) {
  throw Error(ErrorKind::usage, "C63-NO-PNG", "this c63 was built without FFmpeg, which writes PNG; write .ppm");
}
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

void save_picture(const std::string& path, const Image& image, Durability durability) {
  check_picture_name(path);
  OutputFile file(path, durability);
  if (path.ends_with(".ppm")) {
    file.write(fmt::format("P6\n{} {}\n255\n", image.width(), image.height()));
    file.write(image.bytes());
  } else {
    file.write(encode_png(image));
  }
  file.commit();
}

std::string data_uri(const std::vector<std::uint8_t>& png) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = "data:image/png;base64,";
  for (std::size_t i = 0; i < png.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, png.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? png[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace c63::tools
