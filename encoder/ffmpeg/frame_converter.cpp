#include "ffmpeg/frame_converter.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <new>

#include "c63/error.h"

namespace c63 {
namespace {

AvFramePointer make_picture(AVPixelFormat format, int width, int height) {
  AvFramePointer frame(av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  frame->format = format;
  frame->width = width;
  frame->height = height;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
  return frame;
}

}  // namespace

struct FrameConverter::State {
  AVPixelFormat format = AV_PIX_FMT_NONE;
  int width = 0;
  int height = 0;
  int range = AVCOL_RANGE_UNSPECIFIED;
  SwsContext* scaler = nullptr;  // null if no samples change
  AvFramePointer converted;

  ~State() { sws_freeContext(scaler); }
};

FrameConverter::FrameConverter(AvWatch& watch, int pixel_format, int width, int height, int range)
    : watch_(watch), state_(std::make_unique<State>()) {
  state_->format = static_cast<AVPixelFormat>(pixel_format);
  state_->width = width;
  state_->height = height;
  state_->range = range;
  if (state_->format == AV_PIX_FMT_YUV420P || state_->format == AV_PIX_FMT_YUVJ420P) return;
  const auto refuse = [&] {
    return Error(ErrorKind::input, "C63-AV-PIXEL-FORMAT",
                 "pixel format " + pixel_format_name(pixel_format) + " cannot be converted to yuv420p");
  };
  if (sws_isSupportedInput(state_->format) == 0) throw refuse();
  SwsContext* scaler = sws_alloc_context();
  state_->scaler = scaler;
  if (scaler == nullptr) throw std::bad_alloc();
  av_opt_set_int(scaler, "srcw", width, 0);
  av_opt_set_int(scaler, "srch", height, 0);
  av_opt_set_int(scaler, "src_format", state_->format, 0);
  av_opt_set_int(scaler, "dstw", width, 0);
  av_opt_set_int(scaler, "dsth", height, 0);
  av_opt_set_int(scaler, "dst_format", AV_PIX_FMT_YUV420P, 0);
  av_opt_set_int(scaler, "sws_flags", SWS_BICUBIC, 0);
  if (av_call(watch_, [&] { return sws_init_context(scaler, nullptr, nullptr); }, {}) < 0) throw refuse();
  if (range != AVCOL_RANGE_UNSPECIFIED) {  // else swscale takes the format's usual range; that of gray is full
    const int* matrix[2];
    int ranges[2];
    int adjust[3];
    sws_getColorspaceDetails(scaler, const_cast<int**>(&matrix[0]), &ranges[0], const_cast<int**>(&matrix[1]), &ranges[1],
                             &adjust[0], &adjust[1], &adjust[2]);
    sws_setColorspaceDetails(scaler, matrix[0], range == AVCOL_RANGE_JPEG, matrix[1], ranges[1], adjust[0], adjust[1],
                             adjust[2]);
  }
  state_->converted = make_picture(AV_PIX_FMT_YUV420P, width, height);
}

FrameConverter::~FrameConverter() = default;

bool FrameConverter::changes_samples() const { return state_->scaler != nullptr; }

bool FrameConverter::keeps_full_range() const {
  return !changes_samples() && (state_->range == AVCOL_RANGE_JPEG || state_->format == AV_PIX_FMT_YUVJ420P);
}

bool FrameConverter::is_for(int pixel_format, int range) const {
  return state_->format == pixel_format && state_->range == range;
}

void FrameConverter::convert(const std::uint8_t* const* planes, const int* pitches, std::span<std::uint8_t> frame,
                             bool luma_only) {
  if (state_->scaler != nullptr) {
    const int rows = av_call(watch_,
                             [&] {
                               return sws_scale(state_->scaler, planes, pitches, 0, state_->height,
                                                state_->converted->data, state_->converted->linesize);
                             },
                             {});
    if (rows < 0) throw av_fault(watch_, "C63-AV-PIXEL-FORMAT", "the picture cannot be converted", rows, {});
    planes = state_->converted->data;
    pitches = state_->converted->linesize;
  }
  copy_padded(planes, pitches, state_->width, state_->height, frame, luma_only);
}

std::string pixel_format_name(int pixel_format) {
  const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(pixel_format));
  return name != nullptr ? name : "unknown";
}

}  // namespace c63
