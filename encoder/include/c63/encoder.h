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

#include "c63/filters.h"
#include "c63/motion.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// Where frames come from. Frames are 8-bit 4:2:0, planes Y, U, V without gaps, frame_bytes(width, height) each.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  [[nodiscard]] virtual VideoFormat format() const = 0;
  /// Number of frames; nothing where only the end will tell (a pipe).
  [[nodiscard]] virtual std::optional<std::int64_t> frame_count() const = 0;
  /// True where read() takes any index at any time; otherwise indices come as 0, 1, 2, …
  [[nodiscard]] virtual bool seekable() const = 0;
  /// True where a seekable source takes calls of read() from several threads at once.
  [[nodiscard]] virtual bool concurrent() const { return false; }
  /// Fills `frame` with frame `index`; false when there is no such frame. Throws Error (input) on faults.
  [[nodiscard]] virtual bool read(std::int64_t index, std::span<std::uint8_t> frame) = 0;
  /// Frame `index` where it lies, if a concurrent source has it in memory that stays as it is until the encode is over; empty
  /// otherwise, and where there is no such frame. A GPU takes frames from page-locked memory (cudaMallocHost,
  /// cudaHostRegister) without having them copied by read() before.
  [[nodiscard]] virtual std::span<const std::uint8_t> in_place([[maybe_unused]] std::int64_t index) { return {}; }
};

/// Milliseconds that one frame spent in each stage; wall time of the stage wherever it ran.
struct StageTimes {
  double read = 0;
  double upload = 0;    ///< host to device; 0 on the CPU
  double motion = 0;
  double transform = 0; ///< compensation, transform, quantization, reconstruction
  double measure = 0;   ///< PSNR and SSIM
  double entropy = 0;
  double download = 0;
  double write = 0;     ///< the caller's sink

  StageTimes& operator+=(const StageTimes& other);
};

/// Bits of one coded frame by what they say.
struct BitCounts {
  std::uint64_t header = 0;   ///< markers, tables, stuffing, padding
  std::uint64_t motion = 0;   ///< use_mv, reuse and vectors
  std::uint64_t luma = 0;     ///< coefficients of Y
  std::uint64_t chroma = 0;   ///< coefficients of U and V

  BitCounts& operator+=(const BitCounts& other);
};

/// By how much a whole frame moved against the one before.
struct GlobalMotion {
  bool measured = false;            ///< never in key frames
  std::optional<FrameShift> shift;  ///< nothing: the frame before has no texture, or along one direction only
};

struct FrameStatistics {
  std::array<std::uint64_t, 3> sse{};   ///< squared error of each plane over its coded samples
  std::array<double, 3> ssim{};
  std::uint64_t luma_sad = 0;           ///< sum of the chosen SADs of luma; 0 in key frames
  GlobalMotion global_motion;           ///< of luma, by estimate_shift(): good for shifts up to about half a sample
  BitCounts bits;
  StageTimes times;
  double latency_ms = 0;                ///< from the frame's last byte read to its bytes handed out
};

/// One frame as it leaves the encoder.
struct EncodedFrame {
  std::int64_t index = 0;
  bool key = false;
  std::vector<std::uint8_t> bytes;           ///< the coded frame, SOI to EOI
  FrameStatistics statistics;
  std::vector<std::uint8_t> reconstruction;  ///< linear layout; empty unless kept
  std::vector<std::uint8_t> prediction;      ///< linear layout; empty unless kept
  std::array<MotionField, 3> motion;         ///< empty unless kept, and in key frames
};

/// Which share of a run, 0 to 1, something was busy: the one near 1 is what limits. Where several do the same (readers,
/// devices, threads), their mean.
struct EncodeLoad {
  double reading = 0;
  double bus = 0;      ///< uploads; 0 on the CPU
  double coding = 0;   ///< a GPU's kernels, or the CPU's stages
  double writing = 0;  ///< the caller's sink
};

struct EncodeSummary {
  std::int64_t frames = 0;
  std::int64_t key_frames = 0;
  std::uint64_t bytes = 0;
  double start_up_ms = 0;   ///< opening the backend
  double elapsed_ms = 0;    ///< first read to last write, start-up not counted
  int lanes = 1;
  EncodeLoad load;
  std::string backend;      ///< what ran it, for people
  bool stopped = false;     ///< a stop request ended it early; what was written is whole
};

class Backend;

/// Opens a backend for the settings, with at most `max_lanes` lanes.
using BackendFactory = std::function<std::unique_ptr<Backend>(const EncoderSettings& settings, int max_lanes)>;

/// Encodes video. The same settings give the same bytes on every backend, thread and lane count and instruction set.
class Encoder {
 public:
  using Sink = std::function<void(EncodedFrame&&)>;

  /// Encodes on the CPU. Throws Error (usage, limit) for settings that cannot be encoded with.
  explicit Encoder(EncoderSettings settings);
  /// Encodes on whatever `factory` opens.
  Encoder(EncoderSettings settings, BackendFactory factory);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  [[nodiscard]] const EncoderSettings& settings() const;

  /// Where the backend fails with a device error, `factory` opens another, `on_fallback` is told why, and encoding goes
  /// on from the last key frame that was handed out: the same bytes, nothing handed out twice. Input that cannot seek is
  /// then kept in memory for one GOP and what lanes hold.
  void set_fallback(BackendFactory factory, std::function<void(const std::string& reason)> on_fallback);

  /// Encodes all frames of `source`; `sink` is called on this thread, in display order. After a stop request the frames
  /// in hand are finished and handed out. The source's size must be the settings' one.
  EncodeSummary encode(FrameSource& source, const Sink& sink, std::stop_token stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Encodes whole frames that lie one after another in memory; returns the stream.
/// Throws Error (input) if `frames` is no whole number of frames.
[[nodiscard]] std::vector<std::uint8_t> encode(std::span<const std::uint8_t> frames, const EncoderSettings& settings);

}  // namespace c63
