#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "c63/decoder.h"
#include "c63/error.h"
#include "io/byte_source.h"
#include "decode/decode_run.h"
#include "decode/cpu_decode_backend.h"
#include "decode/memory_bytes.h"
#include "decode/stream_index.h"
#include "decode/stream_reader.h"

namespace c63 {

struct SeekableDecoder::State {
  State(std::unique_ptr<ByteSource> byte_source, DecoderSettings decoder_settings, std::string name)
      : source(std::move(byte_source)), settings(with_arena(std::move(decoder_settings))), file(std::move(name)),
        index(require_seekable(*source, file), settings.execution.limits) {}

  static DecoderSettings with_arena(DecoderSettings settings) {
    settings.execution.arena = arena_of(settings);
    return settings;
  }

  static ByteSource& require_seekable(ByteSource& source, const std::string& file) {
    if (source.size()) return source;
    throw Error(ErrorKind::input, "C63-NOT-SEEKABLE", "a pipe can be decoded from its beginning only", {.file = file});
  }

  const FrameEntry& entry(std::int64_t number) {
    if (number >= 0 && index.find(number)) return index.entries()[static_cast<std::size_t>(number)];
    if (number >= 0 && index.fault()) throw index.fault()->at({.file = file});
    throw Error(ErrorKind::usage, "C63-SEEK-RANGE",
                "there is no frame " + std::to_string(number) + ": the number of frames is " +
                    std::to_string(index.entries().size()),
                {.file = file});
  }

  /// Moves the reader to the frame where decoding must begin for frame `number`: the key frame before it, or where the
  /// last decoding ended, if that is nearer.
  void seek(std::int64_t number) {
    const std::int64_t key = index.key_frame_of(number);
    if (reader && reader->index() > key && reader->index() <= number) return;
    reset();
    reader.emplace(*source, settings.execution.limits, index.place(key));
  }

  void reset() {
    reader.reset();
    if (device) (*device)->clear();
  }

  /// Decodes `count` frames, beginning with frame `first`, which must be in the index.
  DecodeSummary decode(std::int64_t first, std::int64_t count, bool key_frames_only, const Decoder::ViewSink& sink,
                       const std::stop_token& stop) {
    // If frames were skipped, the device lacks the reference for the next frame, so decoding starts again at a key
    // frame.
    if (std::exchange(passed_over, key_frames_only) || key_frames_only) reset();
    seek(first);
    DecoderSettings range = settings;
    range.first_frame = first;
    range.max_frames = count;
    range.key_frames_only = key_frames_only;
    if (!device) device.emplace(settings);
    try {
      const DecodeSummary summary = decode_run(*reader, *device, range, sink, stop);
      if (summary.stopped) reset();
      return summary;
    } catch (const Error& error) {
      reset();
      throw error.at({.file = file});
    } catch (...) {
      reset();
      throw;
    }
  }

  std::unique_ptr<ByteSource> source;
  DecoderSettings settings;
  std::string file;
  StreamIndex index;
  std::optional<StreamReader> reader;  ///< stands after the last frame that was given to the device
  std::optional<StreamDevice> device;
  bool passed_over = false;  ///< the last call skipped frames
};

SeekableDecoder::SeekableDecoder(const std::string& path, DecoderSettings settings)
    : state_(std::make_unique<State>(open_byte_source(path), std::move(settings), path)) {}
SeekableDecoder::SeekableDecoder(std::span<const std::uint8_t> stream, DecoderSettings settings)
    : SeekableDecoder(std::make_unique<MemoryBytes>(stream), std::move(settings)) {}
SeekableDecoder::SeekableDecoder(std::unique_ptr<ByteSource> source, DecoderSettings settings)
    : state_(std::make_unique<State>(std::move(source), std::move(settings), std::string())) {}
SeekableDecoder::~SeekableDecoder() = default;
SeekableDecoder::SeekableDecoder(SeekableDecoder&&) noexcept = default;
SeekableDecoder& SeekableDecoder::operator=(SeekableDecoder&&) noexcept = default;

int SeekableDecoder::width() {
  if (!has_frame(0) && state_->index.fault()) static_cast<void>(entry(0));
  return state_->index.geometry() ? state_->index.geometry()->width() : 0;
}

int SeekableDecoder::height() {
  if (!has_frame(0) && state_->index.fault()) static_cast<void>(entry(0));
  return state_->index.geometry() ? state_->index.geometry()->height() : 0;
}

std::int64_t SeekableDecoder::frame_count() {
  state_->index.find_all();
  return static_cast<std::int64_t>(state_->index.entries().size());
}

const std::optional<Error>& SeekableDecoder::fault() {
  state_->index.find_all();
  return state_->index.fault();
}

bool SeekableDecoder::has_frame(std::int64_t index) { return index >= 0 && state_->index.find(index); }

const FrameEntry& SeekableDecoder::entry(std::int64_t index) { return state_->entry(index); }

const std::array<std::array<std::uint8_t, 64>, 3>& SeekableDecoder::tables(std::uint32_t number) const {
  return state_->index.tables(number);
}

DecodedFrame SeekableDecoder::frame(std::int64_t index) {
  static_cast<void>(state_->entry(index));
  std::optional<DecodedFrame> frame;
  static_cast<void>(state_->decode(index, 1, /*key_frames_only=*/false, [&](const FrameView& view) { frame = copy_of(view); }, {}));
  // The index has the frame, so the stream became shorter after it was indexed.
  if (!frame) throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the stream has become shorter: the frame is gone", {.frame = index});
  return std::move(*frame);
}

DecodeSummary SeekableDecoder::frames(std::int64_t first, std::int64_t count, const Decoder::ViewSink& sink,
                                      std::stop_token stop) {
  static_cast<void>(state_->entry(first));
  return state_->decode(first, count, state_->settings.key_frames_only, sink, stop);
}

}  // namespace c63
