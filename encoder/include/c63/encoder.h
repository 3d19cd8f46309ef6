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

#include "c63/frame_shift.h"
#include "c63/frame_source.h"
#include "c63/motion.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// Milliseconds that one frame spent in each stage; wall time of the stage wherever it ran.
struct StageTimes {
  double read = 0;      ///< from the source, which may filter by itself (Prefilter)
  double upload = 0;    ///< host to device; 0 on the CPU
  double motion = 0;
  double transform = 0; ///< compensation, transform, quantization, reconstruction
  double measure = 0;   ///< PSNR and SSIM
  double entropy = 0;
  double download = 0;
  double write = 0;     ///< the caller's sink
  double lookahead = 0;  ///< before coding: references, what becomes of errors, global motion
  double filter = 0;     ///< before coding: the presets' filter over time, with the weights of its result

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
  bool repeat = false;                       ///< nothing is coded: the picture of the frame before is shown again
  std::vector<std::uint8_t> bytes;           ///< the coded frame, SOI to EOI
  FrameStatistics statistics;
  std::vector<std::uint8_t> reconstruction;  ///< linear layout; empty unless kept
  std::vector<std::uint8_t> prediction;      ///< linear layout; empty unless kept
  std::array<MotionField, 3> motion;         ///< empty unless kept, and in key frames and repeats
};

/// Which share of a run, 0 to 1, something was busy: the one near 1 is what limits. Where several do the same (readers,
/// devices, threads), their mean.
struct EncodeLoad {
  double reading = 0;
  double bus = 0;      ///< uploads; 0 on the CPU
  double coding = 0;   ///< a GPU's kernels, or the CPU's stages
  double writing = 0;  ///< the caller's sink
  double looking_ahead = 0;  ///< look-ahead and filters
};

/// What one device did of an encode.
struct DeviceShare {
  std::string description = {};  ///< of the device, for people
  std::int64_t gops = 0;         ///< whose last frame it encoded
  std::int64_t frames = 0;
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
  std::vector<DeviceShare> devices = {};  ///< those that took part, in the order in which they began
  bool stopped = false;     ///< a stop request ended it early; what was written is whole
  std::int64_t dropped = 0;  ///< then: frames of a live source that were read and are not coded
};

class Backend;
struct ResolvedEncode;

/// Opens one device for an encode, with at most `max_chains` GOPs at the same time. If settings.execution.lanes is 0, the device
/// may choose fewer; otherwise it has max_chains of them.
using BackendFactory = std::function<std::unique_ptr<Backend>(const ResolvedEncode& encode, int max_chains)>;

/// Opens the CPU as a device, which Encoder uses unless it is given others.
[[nodiscard]] std::unique_ptr<Backend> open_cpu_backend(const ResolvedEncode& encode, int max_chains);

template <typename Opened>
class LateDevice;
using JoiningDevice = LateDevice<BackendFactory>;  // c63/joining_device.h
class Planner;
/// Makes the object that decides for the frames of one GOP (encoder/decide/planner.h).
using PlannerFactory = std::function<std::unique_ptr<Planner>()>;

/// Encodes video. The same coding settings give the same bytes on every device, thread and lane count and instruction set.
class Encoder {
 public:
  using Sink = std::function<void(EncodedFrame&&)>;

  /// Encodes on the CPU. Throws Error (usage, limit) for settings that cannot be encoded with.
  explicit Encoder(EncoderSettings settings);
  /// Encodes on all the devices that the factories open, GOP by GOP, whichever is free.
  Encoder(EncoderSettings settings, std::vector<BackendFactory> devices);
  Encoder(EncoderSettings settings, BackendFactory device);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  [[nodiscard]] const EncoderSettings& settings() const;

  /// Where a device fails with a device error, `factory` opens another in place of all of them, `on_fallback` is told why, and
  /// encoding goes on from the last key frame that was handed out: the same bytes, nothing handed out twice. Input that
  /// cannot seek is then kept in memory for one GOP and what lanes hold; where a GOP of it takes more than half of the memory
  /// limit, a device that fails after the first frame ends the encode.
  void set_fallback(BackendFactory factory, std::function<void(const std::string& reason)> on_fallback);

  /// Has a device join each encode when it is ready, if the work that is left is worth it (c63/joining_device.h). It encodes all
  /// that is left then, and the devices that began are free. Input that cannot seek has to fit into memory for a GOP; otherwise
  /// they finish the GOPs that they have begun. No encode waits for the device. If it cannot be opened, the encode goes on without it, and `on_problem` is told why at the end.
  void set_joining(std::shared_ptr<JoiningDevice> device, std::function<void(const std::string& reason)> on_problem);
  /// `on_drain` is told when a stop request finds frames of a live source that were read and are still to be coded: how many.
  /// It is called on the thread that requests the stop.
  void set_on_drain(std::function<void(std::int64_t frames)> on_drain);

  /// Scenes start at these frames of the source, in order: known before, nobody looks for them. For settings with scene cuts; a
  /// part of a video then has the key frames that it has in the whole.
  void set_scene_starts(std::vector<std::int64_t> frames);

  /// Has somebody else decide, in place of the settings' preset. Planners are of the source tree: their header is not installed.
  void set_planner(PlannerFactory planner);

  /// Encodes all frames of `source`; `sink` is called on this thread, in display order. Input that is not seekable is coded as
  /// it comes. The source's size must be the settings' one.
  ///
  /// `stop` ends the encode early: frames that devices have at that moment are coded and handed out, and from a live source all
  /// frames that were read. `drop` ends it with the frames that are coded: what a device has begun with is left. Neither waits
  /// for more than that. What was handed out is a whole stream either way.
  EncodeSummary encode(FrameSource& source, const Sink& sink, std::stop_token stop = {}, std::stop_token drop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Encodes whole frames that lie one after another in memory; returns the stream.
/// Throws Error (input) if `frames` is no whole number of frames.
[[nodiscard]] std::vector<std::uint8_t> encode(std::span<const std::uint8_t> frames, const EncoderSettings& settings);

}  // namespace c63
