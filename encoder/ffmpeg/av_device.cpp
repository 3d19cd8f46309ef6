#include "ffmpeg/av_device.h"

// FFmpeg's header includes cuda.h for two types. They are declared here, so that CUDA's toolkit is not needed.
#define CUDA_VERSION 0
using CUcontext = CUctx_st*;
using CUstream = CUstream_st*;
extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

namespace c63 {
namespace {

/// A codec that GPUs decode, and its profiles. The numbers are FFmpeg's; their names differ between FFmpeg's versions.
struct Decodable {
  AVCodecID codec;
  std::array<int, 3> profiles;
};
constexpr int kNone = -1;
constexpr Decodable kDecodable[] = {
    {AV_CODEC_ID_H264, {578, 77, 100}},  // constrained baseline, main, high
    {AV_CODEC_ID_HEVC, {1, kNone, kNone}},  // main
    {AV_CODEC_ID_VP9, {0, kNone, kNone}},
    {AV_CODEC_ID_AV1, {0, kNone, kNone}},  // main
};

/// Called by the decoder when it knows the stream: chooses CUDA from the formats that it can give.
AVPixelFormat choose_cuda(AVCodecContext* /*codec*/, const AVPixelFormat* formats) {
  for (; *formats != AV_PIX_FMT_NONE; ++formats) {
    if (*formats == AV_PIX_FMT_CUDA) break;
  }
  return *formats;
}

bool is_interlaced(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame.interlaced_frame != 0;
#endif
}

}  // namespace

const char* obstacle_on_device(const AVCodecParameters& parameters) {
  const auto known = std::ranges::find(kDecodable, parameters.codec_id, &Decodable::codec);
  if (known == std::end(kDecodable)) return "the GPU does not decode this codec";
  if (parameters.profile == kNone || std::ranges::count(known->profiles, parameters.profile) == 0) {
    return "the GPU does not decode this profile of the codec";
  }
  if (parameters.format != AV_PIX_FMT_YUV420P && parameters.format != AV_PIX_FMT_YUVJ420P) return "it is not 4:2:0 with 8 bits";
  if (parameters.width % 2 != 0 || parameters.height % 2 != 0) return "a side is odd";
  if (parameters.field_order != AV_FIELD_UNKNOWN && parameters.field_order != AV_FIELD_PROGRESSIVE) return "it is interlaced";
  return nullptr;
}

const AVCodec* find_device_decoder(AVCodecID id) {
  void* at = nullptr;
  while (const AVCodec* const codec = av_codec_iterate(&at)) {
    if (codec->id != id || av_codec_is_decoder(codec) == 0) continue;
    for (int i = 0; const AVCodecHWConfig* const way = avcodec_get_hw_config(codec, i); ++i) {
      if (way->pix_fmt == AV_PIX_FMT_CUDA && (way->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0 &&
          (codec->capabilities & AV_CODEC_CAP_HARDWARE) == 0) {
        return codec;
      }
    }
  }
  return nullptr;
}

int use_device(AVCodecContext& codec, FilmDevice& device) {
  codec.hw_device_ctx = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
  if (codec.hw_device_ctx == nullptr) return AVERROR(ENOSYS);
  auto& cuda = *static_cast<AVCUDADeviceContext*>(reinterpret_cast<AVHWDeviceContext*>(codec.hw_device_ctx->data)->hwctx);
  cuda.cuda_ctx = device.context();
  cuda.stream = device.stream();
  codec.get_format = choose_cuda;
  // A decoder waits for a picture when it returns it. With threads, it returns a picture some packets later, so the GPU
  // always has work. A GPU has at most 32 surfaces, and the references of a stream need up to 16.
  codec.thread_count = 6;
  codec.thread_type = FF_THREAD_FRAME;
  codec.extra_hw_frames = 4;  // pictures that were returned and are not freed
  return av_hwdevice_ctx_init(codec.hw_device_ctx);
}

const char* obstacle_in_frame(const AVCodecContext& codec, const AVFrame& frame) {
  if (frame.format != AV_PIX_FMT_CUDA || frame.hw_frames_ctx == nullptr) return "the GPU did not decode a frame";
  const auto& frames = *reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data);
  if (frames.sw_format != AV_PIX_FMT_NV12) return "a frame is not 4:2:0 with 8 bits";
  // FFmpeg leaves it to the user of such a frame to cut its left and upper edge off.
  if (frame.crop_left != 0 || frame.crop_top != 0) return "frames are cropped";
  if (is_interlaced(frame)) return "it is interlaced";
  if ((codec.properties & FF_CODEC_PROPERTY_FILM_GRAIN) != 0) return "film grain is added to its frames";
  return nullptr;
}

}  // namespace c63
