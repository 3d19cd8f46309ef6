#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "c63/motion.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

struct DecoderSettings {
  ExecutionSettings execution = {};     ///< lanes are the encoder's
  bool keep_prediction = false;         ///< hands out the prediction of every frame
  bool keep_motion = false;             ///< hands out the vectors of every inter frame, inherited ones included
  std::int64_t first_frame = 0;         ///< frames before it are decoded where needed, but not handed out
  std::int64_t max_frames = -1;         ///< -1: all
  TraceSink* trace = nullptr;           ///< told what takes the time; outlives the decoder
};

/// One decoded frame, in linear layout (frame_bytes(width, height) bytes).
struct DecodedFrame {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;               ///< nothing is coded: picture and prediction are those of the frame before
  bool advances_reference = true;    ///< false: it takes the place of the frame before, whose reference it shares
  int width = 0;
  int height = 0;
  std::uint64_t offset = 0;              ///< of the coded frame in the stream
  std::uint64_t coded_bytes = 0;
  std::vector<std::uint8_t> picture;
  std::vector<std::uint8_t> prediction;  ///< empty unless kept
  std::array<MotionField, 3> motion;     ///< empty unless kept, and in key frames and repeats
};

struct DecodeSummary {
  std::int64_t frames = 0;  ///< handed out
  int width = 0;            ///< 0 for an empty stream
  int height = 0;
  std::uint64_t bytes = 0;  ///< of the stream, as far as it was read
  double elapsed_ms = 0;
  bool stopped = false;
};

/// Where a coded stream comes from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to bytes.size() bytes; 0 at the end. Throws Error (input) on faults.
  [[nodiscard]] virtual std::size_t read(std::span<std::uint8_t> bytes) = 0;
};

/// Decodes c63 streams. A repeat frame takes 4 bytes of a stream for a whole picture: who decodes streams of strangers bounds
/// the number of frames (max_frames, or a sink that throws).
class Decoder {
 public:
  using Sink = std::function<void(DecodedFrame&&)>;

  explicit Decoder(DecoderSettings settings = {});

  /// Decodes to the end of the stream; `sink` is called on this thread, in order. Throws Error (input, limit) with frame
  /// and byte offset at the first fault, after every whole frame before it has been handed out.
  DecodeSummary decode(ByteSource& source, const Sink& sink, std::stop_token stop = {});
  DecodeSummary decode(std::span<const std::uint8_t> stream, const Sink& sink, std::stop_token stop = {});

 private:
  DecoderSettings settings_;
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
