#include "ffmpeg/picture_encoder.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
}

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include "c63/error.h"
#include "ffmpeg/av_pointers.h"
#include "ffmpeg/av_watch.h"

namespace c63 {
namespace {

AVCodecID codec_of(PictureCode code) { return code == PictureCode::png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG; }

template <typename T>
void require_memory(const T& allocated) {
  if (!allocated) throw std::bad_alloc();
}

void copy_rows(std::span<const std::uint8_t> from, std::uint8_t* to, int pitch, std::size_t row_bytes, int rows) {
  for (int y = 0; y < rows; ++y) {
    std::ranges::copy(from.subspan(static_cast<std::size_t>(y) * row_bytes, row_bytes),
                      to + static_cast<std::ptrdiff_t>(y) * pitch);
  }
}

}  // namespace

bool can_encode_picture(PictureCode code) { return avcodec_find_encoder(codec_of(code)) != nullptr; }

std::vector<std::uint8_t> encode_picture(PictureCode code, std::span<const std::uint8_t> samples, int width, int height,
                                         int quality) {
  const AVCodec* codec = avcodec_find_encoder(codec_of(code));
  if (codec == nullptr) {
    throw Error(
        ErrorKind::usage, "C63-NO-PNG",
        std::string("this FFmpeg has no ") + (code == PictureCode::png ? "PNG" : "JPEG") + " encoder; write .ppm");
  }
  const auto watch = AvWatch::make(std::numeric_limits<std::uint64_t>::max());
  const AvWatch::Use use(*watch);
  const auto require = [&](int result, const char* what) {
    if (result == AVERROR(ENOMEM) || watch->ran_out_of_memory()) throw std::bad_alloc();
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
  require(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer");
  for (int plane = 0; plane < (code == PictureCode::png ? 1 : 3); ++plane) {
    const int shift = plane == 0 ? 0 : 1;
    const int rows = (height + shift) >> shift;
    const auto row_bytes = static_cast<std::size_t>((width + shift) >> shift) * (code == PictureCode::png ? 3 : 1);
    copy_rows(samples, frame->data[plane], frame->linesize[plane], row_bytes, rows);
    samples = samples.subspan(row_bytes * static_cast<std::size_t>(rows));
  }
  const AvPacketPointer packet(av_packet_alloc());
  require_memory(packet);
  require(avcodec_send_frame(context.get(), frame.get()), "avcodec_send_frame");
  require(avcodec_send_frame(context.get(), nullptr), "avcodec_send_frame");
  require(avcodec_receive_packet(context.get(), packet.get()), "avcodec_receive_packet");
  return {packet->data, packet->data + packet->size};
}

}  // namespace c63
