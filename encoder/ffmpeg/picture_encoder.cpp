extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
}

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "c63/error.h"
#include "ffmpeg/av_watch.h"
#include "ffmpeg/module.h"

namespace c63 {
namespace {

AVCodecID codec_of(PictureCode code) { return code == PictureCode::png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG; }

template <typename T>
void require_memory(const T& allocated) {
  if (!allocated) throw std::bad_alloc();
}

/// Throws Error (limit, C63-PICTURE-SIZE) if FFmpeg cannot encode a picture of this size. A PNG, with a margin, must not
/// have more bytes than an int can count. A JPEG has 16 bits for each side, and FFmpeg's encoder needs a few values.
void check_size(PictureCode code, std::int64_t width, std::int64_t height) {
  constexpr std::int64_t kMostJpeg = 65500;
  const bool fits = code == PictureCode::jpeg
                        ? std::max(width, height) <= kMostJpeg
                        : (8 * 3 * width + 1024) * (height + 128) <= 8 * std::int64_t{std::numeric_limits<int>::max()};
  if (fits) return;
  throw Error(ErrorKind::limit, "C63-PICTURE-SIZE",
              std::string("FFmpeg cannot write a ") + (code == PictureCode::png ? "PNG" : "JPEG") + " of " +
                  std::to_string(width) + "x" + std::to_string(height) + " pixels; write a smaller picture, or .ppm");
}

/// Copies the 4:2:0 planes of `samples`, which have no gaps, to `frame`.
void copy_planes(std::span<const std::uint8_t> samples, AVFrame& frame) {
  for (int plane = 0; plane < 3; ++plane) {
    const int shift = plane == 0 ? 0 : 1;
    const int rows = (frame.height + shift) >> shift;
    const auto columns = static_cast<std::size_t>((frame.width + shift) >> shift);
    for (int y = 0; y < rows; ++y) {
      std::ranges::copy(samples.first(columns), frame.data[plane] + static_cast<std::ptrdiff_t>(y) * frame.linesize[plane]);
      samples = samples.subspan(columns);
    }
  }
}

}  // namespace

void encode_picture(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
                    const std::function<void(std::span<const std::uint8_t>)>& take) {
  const AVCodec* codec = avcodec_find_encoder(codec_of(code));
  if (codec == nullptr) {
    throw Error(
        ErrorKind::usage, "C63-NO-PNG",
        std::string("this FFmpeg has no ") + (code == PictureCode::png ? "PNG" : "JPEG") + " encoder; write .ppm");
  }
  check_size(code, width, height);
  const auto watch = AvWatch::make(std::numeric_limits<std::uint64_t>::max());
  const AvWatch::Use use(*watch);
  errno = 0;
  const auto require = [&](int result, const char* what) {
    // zlib's failed allocations are seen only in errno: FFmpeg reports them as another error.
    if (result == AVERROR(ENOMEM) || watch->ran_out_of_memory() || (result < 0 && errno == ENOMEM)) throw std::bad_alloc();
    if (result < 0)
      throw Error(ErrorKind::internal, "C63-PNG", std::string("cannot encode a picture: ") + what + " failed");
  };
  const std::unique_ptr<AVCodecContext, AvDeleter<avcodec_free_context>> context(avcodec_alloc_context3(codec));
  require_memory(context);
  context->width = width;
  context->height = height;
  context->pix_fmt = code == PictureCode::png ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_YUVJ420P;
  context->time_base = {1, 25};
  context->thread_count = 1;
  if (code == PictureCode::jpeg) {
    context->flags |= AV_CODEC_FLAG_QSCALE;
    context->global_quality = FF_QP2LAMBDA * quality;
  }
  require(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2");

  const AvFramePointer frame(av_frame_alloc());
  require_memory(frame);
  frame->width = width;
  frame->height = height;
  frame->format = context->pix_fmt;
  frame->quality = context->global_quality;
  if (code == PictureCode::png) {
    // A PNG is encoded from the caller's memory, because a copy of a large picture would need the same memory again.
    auto* const first = const_cast<std::uint8_t*>(samples.data());
    frame->buf[0] = av_buffer_create(first, samples.size(), [](void*, std::uint8_t*) {}, nullptr, AV_BUFFER_FLAG_READONLY);
    require_memory(frame->buf[0]);
    frame->data[0] = first;
    frame->linesize[0] = 3 * width;
  } else {
    require(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer");
    copy_planes(samples, *frame);
  }
  const AvPacketPointer packet(av_packet_alloc());
  require_memory(packet);
  require(avcodec_send_frame(context.get(), frame.get()), "avcodec_send_frame");
  require(avcodec_send_frame(context.get(), nullptr), "avcodec_send_frame");
  require(avcodec_receive_packet(context.get(), packet.get()), "avcodec_receive_packet");
  take({packet->data, static_cast<std::size_t>(packet->size)});
}

}  // namespace c63
