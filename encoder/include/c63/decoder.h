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
template <typename Opened>
class LateDevice;
using JoiningDecoder = LateDevice<std::shared_ptr<DecodeBackend>>;  // c63/joining_device.h

struct DecoderSettings {
  ExecutionSettings execution = {};     ///< lanes are the encoder's
  bool keep_prediction = false;         ///< hands out the prediction of every frame
  bool keep_motion = false;             ///< hands out the vectors of every inter frame, inherited ones included
  std::int64_t first_frame = 0;         ///< frames before it are decoded where needed, but not handed out
  std::int64_t max_frames = -1;         ///< handed out at most; -1: all
  bool key_frames_only = false;         ///< the others are passed over
  TraceSink* trace = nullptr;           ///< told what takes the time; outlives the decoder
  /// What decodes the frames (c63/cuda/decoder.h); null: the CPU. Its memory stays with it, for the next decoder of pictures
  /// of that size. It has one decoder at a time, keeps neither predictions nor vectors, and FrameDecoder takes none.
  std::shared_ptr<DecodeBackend> device = {};
  /// Without `device`: what takes over from the CPU at a key frame when it is ready, if the rest of the stream is worth it. No
  /// decode waits for it, and one that cannot be opened is left out. Decoder alone uses it, and not where predictions or vectors are
  /// kept.
  std::shared_ptr<JoiningDecoder> joining = {};
};

/// What is known of a decoded frame besides its samples.
struct FrameInfo {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;               ///< nothing is coded: picture and prediction are those of the frame before
  bool advances_reference = true;    ///< false: it takes the place of the frame before, whose reference it shares
  int width = 0;
  int height = 0;
  std::uint64_t offset = 0;              ///< of the coded frame in the stream
  std::uint64_t coded_bytes = 0;
};

/// One decoded frame, in linear layout (frame_bytes(width, height) bytes).
struct DecodedFrame : FrameInfo {
  std::vector<std::uint8_t> picture;
  std::vector<std::uint8_t> prediction;  ///< empty unless kept
  std::array<MotionField, 3> motion;     ///< empty unless kept, and in key frames and repeats
};

/// One decoded frame where the decoder has it: plane p has plane_bytes(width, height, p) bytes.
struct FrameView : FrameInfo {
  std::array<std::span<const std::uint8_t>, 3> picture;
  std::array<std::span<const std::uint8_t>, 3> prediction;  ///< empty unless kept
  std::array<MotionField, 3> motion;                        ///< empty unless kept, and in key frames and repeats
};

struct DecodeSummary {
  std::int64_t frames = 0;  ///< handed out
  int width = 0;            ///< 0 for an empty stream
  int height = 0;
  std::uint64_t bytes = 0;  ///< of the stream, as far as it was read
  double elapsed_ms = 0;
  bool stopped = false;
  std::int64_t joined_frames = 0;  ///< that DecoderSettings::joining decoded, repeats among them
};

/// Where a coded stream comes from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to bytes.size() bytes; 0 at the end. Throws Error (input) on faults.
  [[nodiscard]] virtual std::size_t read(std::span<std::uint8_t> bytes) = 0;

  /// Bytes of a stream that read_at() reads; nothing where bytes only come one after another (a pipe).
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  /// Fills `bytes` from `offset` on, and returns how many there were: fewer only at the end. What read() gives next does not
  /// change. Throws Error (input) on faults.
  [[nodiscard]] virtual std::size_t read_at([[maybe_unused]] std::uint64_t offset,
                                            [[maybe_unused]] std::span<std::uint8_t> bytes) {
    return 0;
  }
};

/// Decodes c63 streams. A repeat frame takes 4 bytes of a stream for a whole picture: who decodes streams of strangers bounds
/// the number of frames (max_frames, or a sink that throws).
class Decoder {
 public:
  using Sink = std::function<void(DecodedFrame&&)>;
  /// Takes a frame without having it copied. What the view shows stays as it is until the call returns.
  using ViewSink = std::function<void(const FrameView&)>;

  /// Throws Error (usage, C63-SEEK-RANGE) for a first frame below 0.
  explicit Decoder(DecoderSettings settings = {});

  /// Decodes to the end of the stream; `sink` is called on this thread, in order. Throws Error (input, limit) with frame
  /// and byte offset at the first fault, after every whole frame before it has been handed out.
  DecodeSummary decode(ByteSource& source, const Sink& sink, std::stop_token stop = {});
  DecodeSummary decode(std::span<const std::uint8_t> stream, const Sink& sink, std::stop_token stop = {});
  /// The same, with views of the frames.
  DecodeSummary decode_views(ByteSource& source, const ViewSink& sink, std::stop_token stop = {});
  DecodeSummary decode_views(std::span<const std::uint8_t> stream, const ViewSink& sink, std::stop_token stop = {});

 private:
  DecoderSettings settings_;
};

/// A coded frame as an index lists it.
struct FrameEntry {
  std::uint64_t offset = 0;         ///< in the stream
  std::uint64_t bytes = 0;
  bool key = false;
  bool repeat = false;              ///< nothing is coded
  bool advances_reference = true;   ///< false: it takes the place of the frame before
  std::uint32_t tables = 0;         ///< number of its quantization tables, see SeekableDecoder::tables()
};

/// Decodes any frame of a stream whose bytes can be read anywhere (a file, memory). Frames are found by looking for their
/// markers, as far as they are asked for; a frame is decoded from the key frame before it on, or from the frame that was
/// decoded last if that is nearer. Not for two threads at once.
class SeekableDecoder {
 public:
  /// first_frame and max_frames of the settings mean nothing here. Throws Error (input), C63-NOT-SEEKABLE for a pipe.
  explicit SeekableDecoder(const std::string& path, DecoderSettings settings = {});
  /// A stream in memory, which outlives the decoder.
  explicit SeekableDecoder(std::span<const std::uint8_t> stream, DecoderSettings settings = {});
  explicit SeekableDecoder(std::unique_ptr<ByteSource> source, DecoderSettings settings = {});
  ~SeekableDecoder();
  SeekableDecoder(SeekableDecoder&&) noexcept;
  SeekableDecoder& operator=(SeekableDecoder&&) noexcept;

  /// Sides of the pictures in samples; 0 for an empty stream. Throws Error where the first frame has a fault.
  [[nodiscard]] int width();
  [[nodiscard]] int height();

  /// Frames that can be found: all, or those before the first fault().
  [[nodiscard]] std::int64_t frame_count();
  /// What ends the frames before the stream ends: bytes that are no frame, or a frame that is cut off. Faults within scans
  /// are found when frames are decoded.
  [[nodiscard]] const std::optional<Error>& fault();

  /// Whether there is a frame `index`; looks no further than it.
  [[nodiscard]] bool has_frame(std::int64_t index);
  /// Where frame `index` lies and what it is. Throws the fault() before it, or Error (usage, C63-SEEK-RANGE) past the end.
  [[nodiscard]] const FrameEntry& entry(std::int64_t index);
  /// Quantization tables in zig-zag order for Y, U and V, by the number of an entry.
  [[nodiscard]] const std::array<std::array<std::uint8_t, 64>, 3>& tables(std::uint32_t number) const;

  /// Decodes frame `index`, key frame or not. Throws what entry() throws, and Error (input) for faults in the frames that it needs.
  [[nodiscard]] DecodedFrame frame(std::int64_t index);
  /// Decodes `count` frames from `first` on (-1: all), in order, as Decoder does. The summary counts the bytes of the stream
  /// up to the last of them. Throws as Decoder::decode() does.
  DecodeSummary frames(std::int64_t first, std::int64_t count, const Decoder::ViewSink& sink, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes a stream frame by frame on the caller's thread, in order: what `--verify` and players need.
class FrameDecoder {
 public:
  explicit FrameDecoder(DecoderSettings settings = {});
  ~FrameDecoder();
  FrameDecoder(FrameDecoder&&) noexcept;
  FrameDecoder& operator=(FrameDecoder&&) noexcept;

  /// Decodes the one coded frame that `bytes` holds, SOI to EOI. Throws Error (input, limit) with the frame's index and
  /// the offset in `bytes`; decoding can go on with the next key frame then, and other frames are refused until it comes.
  DecodedFrame decode(std::span<const std::uint8_t> bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes a whole stream in memory to frames one after another.
[[nodiscard]] std::vector<std::uint8_t> decode(std::span<const std::uint8_t> stream,
                                               const DecoderSettings& settings = {});

}  // namespace c63
