// Lists the motion vectors of a film that FFmpeg exports, in the format of c63mv --codec-list. It uses no code of c63,
// only one decoder thread, and keeps FFmpeg's order. Tests compare c63mv with it.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/motion_vector.h>
}

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace {

long frames = 0;

void list(const AVFrame& frame) {
  const AVFrameSideData* const data = av_frame_get_side_data(&frame, AV_FRAME_DATA_MOTION_VECTORS);
  const std::size_t count = data == nullptr ? 0 : data->size / sizeof(AVMotionVector);
  for (std::size_t i = 0; i < count; ++i) {
    AVMotionVector v;
    std::memcpy(&v, data->data + i * sizeof v, sizeof v);
    std::printf("%ld,%d,%d,%d,%d,%d,%d,%d,%" PRIu64 ",%d,%d,%d\n", frames, v.source, v.w, v.h, v.src_x, v.src_y, v.dst_x, v.dst_y,
                v.flags, v.motion_x, v.motion_y, v.motion_scale);
  }
  ++frames;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  AVFormatContext* container = nullptr;
  if (avformat_open_input(&container, argv[1], nullptr, nullptr) < 0 || avformat_find_stream_info(container, nullptr) < 0) return 4;
  const AVCodec* codec = nullptr;
  const int stream = av_find_best_stream(container, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  if (stream < 0) return 4;
  AVCodecContext* decoder = avcodec_alloc_context3(codec);
  avcodec_parameters_to_context(decoder, container->streams[stream]->codecpar);
  decoder->thread_count = 1;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "flags2", "+export_mvs", 0);
  if (avcodec_open2(decoder, codec, &options) < 0) return 4;
  std::printf("frame,source,width,height,from_x,from_y,to_x,to_y,flags,motion_x,motion_y,scale\n");
  AVPacket* packet = av_packet_alloc();
  AVFrame* frame = av_frame_alloc();
  bool ended = false;
  while (!ended) {
    ended = av_read_frame(container, packet) < 0;
    if (!ended && packet->stream_index != stream) {
      av_packet_unref(packet);
      continue;
    }
    if (avcodec_send_packet(decoder, ended ? nullptr : packet) < 0) return 4;
    av_packet_unref(packet);
    while (avcodec_receive_frame(decoder, frame) == 0) {
      list(*frame);
      av_frame_unref(frame);
    }
  }
  av_frame_free(&frame);
  av_packet_free(&packet);
  av_dict_free(&options);
  avcodec_free_context(&decoder);
  avformat_close_input(&container);
  return 0;
}
