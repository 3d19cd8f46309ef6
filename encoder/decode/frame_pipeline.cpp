#include "decode/frame_pipeline.h"

#include "decode/cpu_frame_pipeline.h"
#include "decode/device_frame_pipeline.h"

namespace c63 {

std::unique_ptr<FramePipeline> make_frame_pipeline(const DecoderSettings& settings) {
  if (settings.device) return std::make_unique<DeviceFramePipeline>(settings, arena_of(settings));
  return std::make_unique<CpuFramePipeline>(settings, arena_of(settings));
}

FrameInfo info_of(const StreamFrame& coded) {
  const ParsedFrame& frame = coded.parsed;
  return {.index = coded.index,
          .key = frame.key,
          .repeat = frame.repeat,
          .advances_reference = frame.advances_reference,
          .width = frame.geometry.width(),
          .height = frame.geometry.height(),
          .offset = coded.offset,
          .coded_bytes = frame.size};
}

}  // namespace c63
