#include "compare/stream_motion.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "c63/error.h"
#include "io/byte_source.h"

namespace c63::tools {

StreamMotion::StreamMotion(const std::string& path, const Limits& limits, std::stop_token stop)
    : path_(path),
      limits_(limits),
      bytes_(open_byte_source(path, std::move(stop))),
      reader_(*bytes_, limits),
      task_(DecoderSettings{.execution = {.limits = limits}}),
      trace_(nullptr, TraceTrack::thread) {}

void StreamMotion::look_ahead() {
  try {
    ahead_ = reader_.next();
    if (!ahead_ && !begun_) throw Error(ErrorKind::input, "C63-STREAM-EMPTY", "the stream is empty");
  } catch (const Error& error) {
    throw error.at({.file = path_});
  }
  begun_ = true;
}

VideoFormat StreamMotion::format() {
  if (!begun_) look_ahead();
  return {.width = ahead_->parsed.geometry.width(), .height = ahead_->parsed.geometry.height()};
}

FrameMotion StreamMotion::decode(StreamFrame&& coded) {
  FrameMotion frame;
  frame.index = coded.index;
  const ParsedFrame& parsed = coded.parsed;
  if (parsed.repeat) return frame;
  // The memory for three pictures, a decoding task, the source's frame, and the copies that exact search makes.
  const std::uint64_t needed = 9 * parsed.geometry.padded_samples();
  if (needed > limits_.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                fmt::format("checking the vectors of {}x{} takes {} bytes; the limit is {} (--max-memory)",
                            parsed.geometry.width(), parsed.geometry.height(), needed, limits_.max_memory));
  }
  if (!parsed.key && !chain_.current()) {
    throw Error(ErrorKind::input, "C63-NO-REFERENCE", "the stream does not begin with a key frame",
                {.frame = coded.index});
  }
  const bool key = parsed.key;
  pictures_ = {};
  DecodedPicture* const free = pool_.find_free();
  if (free == nullptr) throw Error(ErrorKind::internal, "C63-INTERNAL", "a decoder needs more than three pictures");
  pictures_ = chain_.next(key, parsed.advances_reference, *free);
  task_.begin(std::move(coded), FramePictures(pictures_));
  static_cast<void>(task_.run(trace_));  // returns only when the frame is done, because its reference is complete
  const std::exception_ptr fault = task_.fault();
  if (!key && !fault) frame.motion = task_.motion();
  task_.end();
  if (fault) std::rethrow_exception(fault);
  if (key) return frame;
  frame.has_vectors = true;
  for (int p = 0; p < 3; ++p)
    frame.reference[static_cast<std::size_t>(p)] = std::as_const(pictures_.reference->samples).plane(p);
  return frame;
}

std::optional<FrameMotion> StreamMotion::next() {
  if (!begun_) look_ahead();
  if (!ahead_) return std::nullopt;
  StreamFrame coded = std::move(*ahead_);
  ahead_.reset();
  try {
    FrameMotion frame = decode(std::move(coded));
    look_ahead();
    return frame;
  } catch (const Error& error) {
    throw error.at({.file = path_});
  }
}

}  // namespace c63::tools
