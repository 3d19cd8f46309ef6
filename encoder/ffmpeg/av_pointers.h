#pragma once

extern "C" {
#include <libavcodec/packet.h>
#include <libavutil/frame.h>
}

#include <memory>

namespace c63 {

/// A deleter for objects whose FFmpeg function for freeing takes a pointer to the pointer.
template <auto Free>
struct AvDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(&object);
  }
};

using AvFramePointer = std::unique_ptr<AVFrame, AvDeleter<av_frame_free>>;
using AvPacketPointer = std::unique_ptr<AVPacket, AvDeleter<av_packet_free>>;

}  // namespace c63
