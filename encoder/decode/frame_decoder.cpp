#include <optional>
#include <utility>

#include "c63/decoder.h"
#include "c63/error.h"
#include "c63/trace.h"
#include "decode/decode_run.h"
#include "decode/cpu_decode_backend.h"
#include "decode/frame_task.h"
#include "decode/picture_pool.h"

namespace c63 {

struct FrameDecoder::State {
  explicit State(const DecoderSettings& decoder_settings)
      : settings(decoder_settings), parser(settings.execution.limits), trace(settings.trace, TraceTrack::thread) {}

  /// Decodes one frame. Offsets in errors count from the frame's start.
  DecodedFrame decode(std::span<const std::uint8_t> bytes) {
    const bool chain_is_broken = std::exchange(broken, true);  // broken, until this frame is decoded
    StreamFrame coded;
    coded.parsed = parser.parse(bytes);
    const ParsedFrame& parsed = coded.parsed;
    if (chain_is_broken && !parsed.key) {
      throw Error(ErrorKind::input, "C63-NO-REFERENCE", "only a key frame can follow a frame that could not be decoded",
                  {.offset = 0});
    }
    if (parsed.size != bytes.size()) {
      throw Error(ErrorKind::input, "C63-FRAME-TRAILING", "bytes past the end of the frame",
                  {.offset = static_cast<std::int64_t>(parsed.size)});
    }
    if (!task) {
      require_memory(settings, parsed.geometry);
      task.emplace(settings);
    }
    trace.did("idle");
    FrameView view{coded.info(), {}, {}, {}};
    if (!parsed.repeat) {
      FramePictures pictures = chain.next(parsed.key, parsed.advances_reference, *pool.find_free());
      coded.index = index;
      task->begin(std::move(coded), std::move(pictures));
      static_cast<void>(task->run(trace));  // cannot return false, because the reference is complete
      const std::exception_ptr fault = task->fault();
      if (settings.keep_motion && !fault) view.motion = task->motion();
      task->end();
      if (fault) std::rethrow_exception(fault);
    }
    show(view, *chain.current(), settings.keep_prediction);
    DecodedFrame frame = copy_of(view);
    trace.did("copy", index);
    frame.index = index++;
    frame.offset = std::exchange(offset, offset + frame.coded_bytes);
    broken = false;
    return frame;
  }

  DecoderSettings settings;
  FrameParser parser;
  PicturePool pool{3};  ///< the frame's picture and the two earlier ones that it may need
  ReferenceChain chain;
  std::optional<FrameTask> task;
  TraceRow trace;
  std::int64_t index = 0;
  std::uint64_t offset = 0;
  bool broken = false;  ///< the previous frame could not be decoded
};

FrameDecoder::FrameDecoder(DecoderSettings settings) : state_(std::make_unique<State>(settings)) {}
FrameDecoder::~FrameDecoder() = default;
FrameDecoder::FrameDecoder(FrameDecoder&&) noexcept = default;
FrameDecoder& FrameDecoder::operator=(FrameDecoder&&) noexcept = default;

DecodedFrame FrameDecoder::decode(std::span<const std::uint8_t> bytes) {
  try {
    return state_->decode(bytes);
  } catch (const Error& error) {
    throw error.at({.frame = state_->index});
  }
}

}  // namespace c63
