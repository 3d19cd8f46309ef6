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

#include "c63/frame_source.h"
#include "c63/motion.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// Milliseconds that one frame spent in each stage, as wall time, on any device.
struct StageTimes {
  double read = 0;      ///< reading from the source, including any filter in the source (Prefilter)
  double upload = 0;    ///< host to device; 0 on the CPU
  double motion = 0;
  double transform = 0; ///< compensation, transform, quantization, reconstruction
  double measure = 0;   ///< PSNR and SSIM
  double entropy = 0;
  double download = 0;
  double write = 0;     ///< the caller's sink
  double lookahead = 0;  ///< before coding: motion between source frames, and references
  double filter = 0;     ///< before coding: the presets' temporal filter, with the propagated weights of the frame

  StageTimes& operator+=(const StageTimes& other);
};

/// The bits of one coded frame, by their purpose.
struct BitCounts {
  std::uint64_t header = 0;   ///< markers, tables, stuffing, padding
  std::uint64_t motion = 0;   ///< use_mv, reuse and vectors
  std::uint64_t luma = 0;     ///< coefficients of Y
  std::uint64_t chroma = 0;   ///< coefficients of U and V

  BitCounts& operator+=(const BitCounts& other);
};

/// What was measured in one frame.
struct FrameStatistics {
  std::array<std::uint64_t, 3> sse{};   ///< squared error of each plane over its coded samples
  std::array<double, 3> ssim{};
  std::uint64_t luma_sad = 0;           ///< sum of the SADs of the chosen luma vectors; 0 in key frames
  BitCounts bits;
  StageTimes times;
  /// The time from giving the frame to a device until its coded bytes are given to the sink. Reading the frame and
  /// looking ahead come before, and do not count.
  double latency_ms = 0;
};

/// One encoded frame, as given to the sink.
struct EncodedFrame {
  std::int64_t index = 0;
  bool key = false;
  bool repeat = false;                       ///< nothing is coded: the previous picture is shown again
  std::vector<std::uint8_t> bytes;           ///< the coded frame, SOI to EOI
  FrameStatistics statistics;
  std::vector<std::uint8_t> reconstruction;  ///< planes Y, U, V without gaps; empty unless kept
  std::vector<std::uint8_t> prediction;      ///< planes Y, U, V without gaps; empty unless kept
  std::array<MotionField, 3> motion;         ///< empty unless kept; always empty for key frames and repeats
};

/// The share of an encode's time, 0 to 1, that each stage was busy. A value near 1 marks the bottleneck. If several
/// threads or devices do the same work, the value is their mean.
struct EncodeLoad {
  double reading = 0;
  double bus = 0;      ///< uploads; 0 on the CPU
  double coding = 0;   ///< a GPU's kernels, or the CPU's stages
  double writing = 0;  ///< the caller's sink
  double looking_ahead = 0;  ///< look-ahead and temporal filter
};

/// The part of an encode that one device did.
struct DeviceShare {
  std::string description = {};  ///< the device's name in plain text
  std::int64_t gops = 0;         ///< GOPs whose last frame this device encoded
  std::int64_t frames = 0;
};

/// The result of an encode.
struct EncodeSummary {
  std::int64_t frames = 0;
  std::int64_t key_frames = 0;
  std::uint64_t bytes = 0;
  double start_up_ms = 0;   ///< the time to open the backend
  double elapsed_ms = 0;    ///< from the first read to the last write, without start_up_ms
  int lanes = 1;
  EncodeLoad load;
  std::string backend;      ///< the devices' names in plain text
  std::vector<DeviceShare> devices = {};  ///< the devices that took part, in the order in which they began
  /// a stop request ended the encode early; the frames that the sink received are a whole stream
  bool stopped = false;
  std::int64_t dropped = 0;  ///< frames that were read from a live source and not coded; 0 unless stopped
};

class Backend;
struct ResolvedEncode;

/// Opens one device for an encode. If settings.execution.lanes is 0, the device chooses its number of chains, at most
/// `max_chains`. Otherwise it has exactly `max_chains`.
using BackendFactory = std::function<std::unique_ptr<Backend>(const ResolvedEncode& encode, int max_chains)>;

/// Opens the CPU as a device. Encoder uses it by default.
[[nodiscard]] std::unique_ptr<Backend> open_cpu_backend(const ResolvedEncode& encode, int max_chains);

class Planner;
/// Makes the object that decides for the frames of one GOP (encoder/decide/planner.h).
using PlannerFactory = std::function<std::unique_ptr<Planner>()>;

/// Encodes video. Equal coding settings give equal bytes on every device, instruction set and number of threads or lanes.
class Encoder {
 public:
  using Sink = std::function<void(EncodedFrame&&)>;

  /// Encodes on the CPU. Throws Error (usage, limit) for settings that cannot be used.
  explicit Encoder(EncoderSettings settings);
  /// Encodes on all devices that the factories open. Each free device takes the next GOP.
  Encoder(EncoderSettings settings, std::vector<BackendFactory> devices);
  Encoder(EncoderSettings settings, BackendFactory device);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  [[nodiscard]] const EncoderSettings& settings() const;

  /// Sets a device that replaces all others if one of them fails with a device error. `on_fallback` receives the
  /// reason. The new device begins again at the last key frame that the sink received. The stream has the same bytes,
  /// and the sink receives no frame twice. For this, frames of input that cannot seek are kept in memory: those of one
  /// GOP, and those that are being encoded. If the frames of one GOP take more than half of the memory limit, the new
  /// device can only take over if a device cannot be opened. A later failure ends the encode.
  void set_fallback(BackendFactory factory, std::function<void(const std::string& reason)> on_fallback);

  /// Sets a function that is called when a stop of a live source is requested. It receives the number of frames that
  /// were read but are not yet coded. It is called on the thread that requests the stop, and only if there are such
  /// frames.
  void set_on_drain(std::function<void(std::int64_t frames)> on_drain);

  /// Sets the frames of the source at which scenes start, in ascending order. They replace the search for scene cuts.
  /// With the scene starts of a whole video, a part of it gets the same key frames as in the whole. Needs
  /// CodingSettings::scene_cuts.
  void set_scene_starts(std::vector<std::int64_t> frames);

  /// Sets a planner that replaces the settings' preset. The header of Planner is in the source tree and is not installed.
  void set_planner(PlannerFactory planner);

  /// Encodes all frames of `source`. Calls `sink` on this thread, in display order. Encodes frames of sources that cannot seek
  /// as they arrive. The source must have the settings' size.
  ///
  /// `stop` ends the encode early: nothing more is read, and frames that devices already have are coded. Of a live
  /// source, all frames that were read are coded. `drop` ends it too, but abandons frames that are not yet coded. The
  /// frames that `sink` received are always a whole stream.
  EncodeSummary encode(FrameSource& source, const Sink& sink, std::stop_token stop = {}, std::stop_token drop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Encodes frames that lie one after another, planes Y, U, V without gaps; returns the stream. Throws Error (input)
/// if `frames` does not hold a whole number of frames.
[[nodiscard]] std::vector<std::uint8_t> encode(std::span<const std::uint8_t> frames, const EncoderSettings& settings);

}  // namespace c63
