#include "decode/device_frame_pipeline.h"

#include <oneapi/tbb/parallel_for.h>

#include <utility>
#include <vector>

#include "bitstream/entropy_decoder.h"
#include "c63/error.h"

namespace c63 {
namespace {

/// Decodes on the CPU a frame that the device found invalid, and throws its error.
[[noreturn]] void throw_fault(const StreamFrame& coded) {
  try {
    FrameSyntax syntax(coded.parsed.geometry);
    std::vector<std::uint8_t> scratch;
    decode_scan(coded.parsed, syntax, scratch);
  } catch (const Error& error) {
    throw in_stream(error, coded);
  }
  throw Error(ErrorKind::device, "C63-DEVICE-DECODE", "the GPU cannot decode a frame that the CPU can decode",
              {.frame = coded.index});
}

/// Calls `work`. If it throws an Error, adds the frame's number to it.
template <typename Work>
decltype(auto) at_frame(std::int64_t frame, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw error.at({.frame = frame});
  }
}

}  // namespace

DeviceFramePipeline::DeviceFramePipeline(const DecoderSettings& settings, std::shared_ptr<ThreadArena> arena)
    : settings_(settings), arena_(std::move(arena)), device_(settings_.device) {
  if (settings_.keep_prediction || settings_.keep_motion) {
    throw Error(ErrorKind::device, "C63-DEVICE-KEEP",
                std::string(settings_.keep_prediction ? "predictions" : "motion vectors") +
                    " of decoded frames are available on the CPU only (--backend cpu)");
  }
}

DeviceFramePipeline::~DeviceFramePipeline() { clear(); }

void DeviceFramePipeline::open(const Geometry& geometry) {
  // A quarter of the memory limit is for coded frames; the device gets the rest.
  device_->open(geometry, settings_.execution.limits.max_memory / 4 * 3,
                [arena = arena_](int count, const std::function<void(int)>& body) {
                  arena->execute([&] { oneapi::tbb::parallel_for(0, count, body); });
                });
  open_ = true;
}

bool DeviceFramePipeline::has_room() const {
  return !open_ || (device_->has_room() && coded_bytes_ < settings_.execution.limits.max_memory / 4);
}

void DeviceFramePipeline::submit(StreamFrame&& coded, std::int64_t count, bool wanted) {
  Frame& frame = frames_.emplace_back();
  frame.output = {.view = {info_of(coded), {}, {}, {}}, .count = count, .wanted = wanted};
  frame.coded = std::move(coded);
  coded_bytes_ += frame.coded.bytes.size();
  const ParsedFrame& parsed = frame.coded.parsed;
  at_frame(frame.coded.index, [&] {
    device_->submit({.scan = parsed.scan,
                     .tables = parsed.tables,
                     .key = parsed.key,
                     .repeat = parsed.repeat,
                     .advances_reference = parsed.advances_reference,
                     .wanted = wanted});
  });
}

bool DeviceFramePipeline::is_ready() {
  return at_frame(frames_.front().coded.index, [&] { return device_->is_ready(); });
}

const FramePipeline::Output& DeviceFramePipeline::front() {
  Frame& frame = frames_.front();
  const FrameOfDevice& decoded =
      at_frame(frame.coded.index, [&]() -> const FrameOfDevice& { return device_->front(); });
  if (!decoded.is_valid) throw_fault(frame.coded);
  frame.output.view.picture = decoded.planes;
  return frame.output;
}

std::vector<std::uint8_t> DeviceFramePipeline::pop() {
  device_->pop();
  std::vector<std::uint8_t> bytes = std::move(frames_.front().coded.bytes);
  coded_bytes_ -= bytes.size();
  frames_.pop_front();
  return bytes;
}

void DeviceFramePipeline::clear() noexcept {
  if (open_) device_->clear();
  frames_.clear();
  coded_bytes_ = 0;
}

}  // namespace c63
