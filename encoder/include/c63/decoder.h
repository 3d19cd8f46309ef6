#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/error.h"
#include "c63/motion.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

class DecodeBackend;

/// What a decoder does with a stream, and on which device.
struct DecoderSettings {
  ExecutionSettings execution = {};     ///< `lanes` is ignored
  bool keep_prediction = false;         ///< gives the sink the prediction of every frame
  bool keep_motion = false;             ///< gives the sink the vectors of every inter frame, including inherited ones
  std::int64_t first_frame = 0;         ///< earlier frames are decoded if needed, but not given to the sink
  std::int64_t max_frames = -1;         ///< the most frames that the sink receives; -1: all
  bool key_frames_only = false;         ///< skips all other frames
  TraceSink* trace = nullptr;           ///< receives the time of each stage; must outlive the decoder
  /// The device that decodes (c63/cuda/decoder.h); null: the CPU. A device serves one decoder at a time. It keeps its
  /// memory for the next decoder of pictures of the same size. It cannot keep predictions or vectors. FrameDecoder
  /// ignores it and decodes on the CPU.
  std::shared_ptr<DecodeBackend> device = {};
};

/// The properties of a decoded frame, without its samples.
struct FrameInfo {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;               ///< nothing is coded: picture and prediction are those of the previous frame
  bool advances_reference = true;    ///< false: predicted from the same reference as the previous frame, or a repeat
  int width = 0;
  int height = 0;
  std::uint64_t offset = 0;              ///< byte offset of the coded frame in the stream
  std::uint64_t coded_bytes = 0;
};

/// One decoded frame: planes Y, U, V without gaps (frame_bytes(width, height) bytes).
struct DecodedFrame : FrameInfo {
  std::vector<std::uint8_t> picture;
  std::vector<std::uint8_t> prediction;  ///< empty unless kept
  std::array<MotionField, 3> motion;     ///< empty unless kept; always empty for key frames and repeats
};

/// One decoded frame in the decoder's memory. Plane p has plane_bytes(width, height, p) bytes.
struct FrameView : FrameInfo {
  std::array<std::span<const std::uint8_t>, 3> picture;
  std::array<std::span<const std::uint8_t>, 3> prediction;  ///< empty unless kept
  std::array<MotionField, 3> motion;                        ///< empty unless kept; always empty for key frames and repeats
};

/// The result of a decode.
struct DecodeSummary {
  std::int64_t frames = 0;  ///< frames that the sink received
  int width = 0;            ///< 0 for an empty stream
  int height = 0;
  std::uint64_t bytes = 0;  ///< bytes of the stream that were read
  double elapsed_ms = 0;
  bool stopped = false;     ///< a stop request ended the decode
};

/// A coded stream, from which a decoder reads bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to bytes.size() bytes and returns their number, 0 at the end. Throws Error (input) if reading fails.
  [[nodiscard]] virtual std::size_t read(std::span<std::uint8_t> bytes) = 0;

  /// The size of a stream that read_at() can read, in bytes. Empty if bytes only come in order (a pipe).
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  /// Reads bytes from `offset` on and returns their number, which is less than bytes.size() only at the end. Does not change
  /// what read() returns next. Throws Error (input) if reading fails.
  [[nodiscard]] virtual std::size_t read_at([[maybe_unused]] std::uint64_t offset,
                                            [[maybe_unused]] std::span<std::uint8_t> bytes) {
    return 0;
  }
};

/// Decodes c63 streams. A repeat frame takes 4 bytes of the stream and gives a whole picture, so a small stream can
/// hold very many frames. If you do not trust a stream, bound the number of frames: with max_frames, or with a sink
/// that throws.
class Decoder {
 public:
  using Sink = std::function<void(DecodedFrame&&)>;
  /// Takes a frame without a copy of its samples. The view is valid until the call returns.
  using ViewSink = std::function<void(const FrameView&)>;

  /// Throws Error (usage, C63-SEEK-RANGE) if first_frame is below 0.
  explicit Decoder(DecoderSettings settings = {});

  /// Decodes to the end of the stream, or until `sink` has received max_frames frames. Calls `sink` on this thread,
  /// with the frames in order. If the stream has an error, `sink` receives every frame before it; then decode() throws
  /// Error (input, limit) with the frame's index and the byte offset.
  DecodeSummary decode(ByteSource& source, const Sink& sink, std::stop_token stop = {});
  DecodeSummary decode(std::span<const std::uint8_t> stream, const Sink& sink, std::stop_token stop = {});
  /// Decodes as decode() does, but gives `sink` views of the frames.
  DecodeSummary decode_views(ByteSource& source, const ViewSink& sink, std::stop_token stop = {});
  DecodeSummary decode_views(std::span<const std::uint8_t> stream, const ViewSink& sink, std::stop_token stop = {});

 private:
  DecoderSettings settings_;
};

/// A coded frame's entry in the index of a stream.
struct FrameEntry {
  std::uint64_t offset = 0;         ///< byte offset of the frame in the stream
  std::uint64_t bytes = 0;
  bool key = false;
  bool repeat = false;              ///< nothing is coded
  bool advances_reference = true;   ///< false: predicted from the same reference as the previous frame, or a repeat
  /// the number of the frame's set of quantization tables, for SeekableDecoder::tables()
  std::uint32_t tables = 0;
};

/// Decodes any frame of a stream whose bytes can be read in any order (a file, memory). It searches the stream for
/// markers only up to the frame that is asked for. Decoding begins at the last key frame before that frame, or after
/// the frame that was decoded last if that is nearer. Only one thread at a time may use an object.
class SeekableDecoder {
 public:
  /// Opens the stream in a file. Ignores first_frame and max_frames of the settings. Throws Error (input), with the id
  /// C63-NOT-SEEKABLE for a pipe.
  explicit SeekableDecoder(const std::string& path, DecoderSettings settings = {});
  /// Uses a stream in memory, which must outlive the decoder.
  explicit SeekableDecoder(std::span<const std::uint8_t> stream, DecoderSettings settings = {});
  explicit SeekableDecoder(std::unique_ptr<ByteSource> source, DecoderSettings settings = {});
  ~SeekableDecoder();
  SeekableDecoder(SeekableDecoder&&) noexcept;
  SeekableDecoder& operator=(SeekableDecoder&&) noexcept;

  /// The picture's width and height in samples; 0 for an empty stream. Throws Error if the first frame is faulty.
  [[nodiscard]] int width();
  [[nodiscard]] int height();

  /// The number of frames before fault(), or of all frames if there is no fault.
  [[nodiscard]] std::int64_t frame_count();
  /// The fault at which the list of frames ends: bytes that are not a frame, or a truncated frame. Empty if the list
  /// reaches the stream's end. Faults within scans are only found by decoding.
  [[nodiscard]] const std::optional<Error>& fault();

  /// Returns true if frame `index` exists. Searches no further than that frame.
  [[nodiscard]] bool has_frame(std::int64_t index);
  /// The entry of frame `index`. Throws fault() if that fault lies before the frame, or Error (usage, C63-SEEK-RANGE)
  /// if the stream ends before it.
  [[nodiscard]] const FrameEntry& entry(std::int64_t index);
  /// The quantization tables of Y, U and V in zig-zag order. `number` is FrameEntry::tables.
  [[nodiscard]] const std::array<std::array<std::uint8_t, 64>, 3>& tables(std::uint32_t number) const;

  /// Decodes frame `index`. Throws what entry() throws, and Error (input) for faults in the frames that it depends on.
  [[nodiscard]] DecodedFrame frame(std::int64_t index);
  /// Decodes `count` frames from `first` on (-1: all), in order. Throws what entry(first) and Decoder::decode() throw.
  /// The summary counts the bytes of the stream up to the last of these frames.
  DecodeSummary frames(std::int64_t first, std::int64_t count, const Decoder::ViewSink& sink, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes one frame after another on the caller's thread, as a player or the option --verify of c63enc needs it.
class FrameDecoder {
 public:
  explicit FrameDecoder(DecoderSettings settings = {});
  ~FrameDecoder();
  FrameDecoder(FrameDecoder&&) noexcept;
  FrameDecoder& operator=(FrameDecoder&&) noexcept;

  /// Decodes the one coded frame in `bytes`, from SOI to EOI. Throws Error (input, limit) with the frame's index and
  /// the offset in `bytes`. After an error, only a key frame can be decoded; until then every other frame is refused.
  DecodedFrame decode(std::span<const std::uint8_t> bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes a whole stream. Returns its frames one after another, planes Y, U, V without gaps (frame_bytes()). Throws as
/// Decoder::decode() does.
[[nodiscard]] std::vector<std::uint8_t> decode(std::span<const std::uint8_t> stream,
                                               const DecoderSettings& settings = {});

}  // namespace c63
