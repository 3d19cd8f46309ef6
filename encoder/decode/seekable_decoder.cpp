#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/decoder.h"
#include "c63/error.h"
#include "decode/cpu_decode_backend.h"
#include "decode/decode_run.h"
#include "decode/stream_reader.h"
#include "io/input_file.h"

namespace c63 {

/// An index of the stream's frames, and the device that decodes them. The index is built only up to the frame that is
/// asked for. Its reader checks headers as a decoder checks them.
struct SeekableDecoder::State {
  State(std::unique_ptr<ByteSource> byte_source, DecoderSettings decoder_settings, std::string name)
      : source(std::move(byte_source)), settings(std::move(decoder_settings)), file(std::move(name)),
        index_reader(*source, settings.execution.limits, StreamPlace{}) {
    if (!source->size()) {
      throw Error(ErrorKind::input, "C63-NOT-SEEKABLE", "a pipe can be decoded from its beginning only", {.file = file});
    }
    settings.execution.pool = pool_of(settings);
  }

  /// Extends the index to frame `number`. Returns false if there is no such frame.
  [[nodiscard]] bool find(std::int64_t number) {
    while (static_cast<std::int64_t>(entries.size()) <= number) {
      if (index_ended || !find_next()) return false;
    }
    return true;
  }

  [[nodiscard]] bool find_next() {
    try {
      const std::optional<StreamFrame> frame = index_reader.pass();
      index_ended = !frame;
      if (!frame) return false;
      // The vector may have room for twice as many entries as it has.
      if (entries.size() >= settings.execution.limits.max_memory / (2 * sizeof(FrameEntry))) {
        throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                    "an index of more than " + std::to_string(entries.size()) + " frames exceeds the memory limit (--max-memory)",
                    {.frame = frame->index, .offset = static_cast<std::int64_t>(frame->offset)});
      }
      const ParsedFrame& parsed = frame->parsed;
      geometry = parsed.geometry;
      if (parsed.key) key_frames.push_back(frame->index);
      entries.push_back({.offset = frame->offset,
                         .bytes = parsed.size,
                         .key = parsed.key,
                         .repeat = parsed.repeat,
                         .advances_reference = parsed.advances_reference,
                         .tables = number_of(parsed.tables)});
      return true;
    } catch (const Error& error) {
      fault = error;
    } catch (const std::bad_alloc&) {
      // The reader has already passed this frame, and the frame is not in the index. If the index went on later, the
      // numbers of all later frames would be wrong.
      fault = Error(ErrorKind::memory, "C63-MEMORY", "not enough memory for an index of the stream");
    }
    index_ended = true;
    return false;
  }

  [[nodiscard]] std::uint32_t number_of(const QuantizationTables& frame_tables) {
    if (!entries.empty() && *tables[entries.back().tables] == frame_tables) return entries.back().tables;
    const auto [entry, is_new] = table_numbers.emplace(frame_tables, static_cast<std::uint32_t>(tables.size()));
    if (is_new) tables.push_back(&entry->first);
    return entry->second;
  }

  const FrameEntry& entry(std::int64_t number) {
    if (number >= 0 && find(number)) return entries[static_cast<std::size_t>(number)];
    if (number >= 0 && fault) throw fault->at({.file = file});
    throw Error(ErrorKind::usage, "C63-SEEK-RANGE",
                "there is no frame " + std::to_string(number) + ": the number of frames is " + std::to_string(entries.size()),
                {.file = file});
  }

  /// Returns the size of the pictures; null if the stream is empty.
  [[nodiscard]] const std::optional<Geometry>& size() {
    if (!find(0) && fault) throw fault->at({.file = file});
    return geometry;
  }

  /// Moves the reader to the frame where decoding must begin for frame `number`: the key frame before it, or where the
  /// last decoding ended, if that is nearer.
  void seek(std::int64_t number) {
    const std::int64_t key = *std::prev(std::ranges::upper_bound(key_frames, number));
    if (reader && reader->index() > key && reader->index() <= number) return;
    reset();
    StreamPlace place;
    if (key > 0) {
      const auto at = static_cast<std::size_t>(key);
      place = {key, entries[at].offset, *geometry, *tables[entries[at - 1].tables]};
    }
    reader.emplace(*source, settings.execution.limits, place);
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

  StreamReader index_reader;
  bool index_ended = false;
  std::optional<Error> fault;  ///< the error before which the index ends
  std::optional<Geometry> geometry;
  std::vector<FrameEntry> entries;
  std::vector<std::int64_t> key_frames;
  std::map<QuantizationTables, std::uint32_t> table_numbers;
  std::vector<const QuantizationTables*> tables;  ///< by number

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

int SeekableDecoder::width() { return state_->size().value_or(Geometry()).width(); }

int SeekableDecoder::height() { return state_->size().value_or(Geometry()).height(); }

std::int64_t SeekableDecoder::frame_count() {
  static_cast<void>(state_->find(INT64_MAX));
  return static_cast<std::int64_t>(state_->entries.size());
}

const std::optional<Error>& SeekableDecoder::fault() {
  static_cast<void>(state_->find(INT64_MAX));
  return state_->fault;
}

bool SeekableDecoder::has_frame(std::int64_t index) { return index >= 0 && state_->find(index); }

const FrameEntry& SeekableDecoder::entry(std::int64_t index) { return state_->entry(index); }

const std::array<std::array<std::uint8_t, 64>, 3>& SeekableDecoder::tables(std::uint32_t number) const {
  return *state_->tables.at(number);
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
