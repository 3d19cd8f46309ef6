#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "c63/encoder.h"

namespace c63 {

/// What the encoder decided for one frame.
struct FramePlan {
  std::int64_t index = 0;  ///< in display order
  bool key = false;        ///< predicts from nothing, and starts a GOP
};

/// One frame to encode on one lane.
struct LaneFrame {
  int lane = 0;
  FramePlan plan;
  double read_ms = 0;  ///< what reading it took; handed on to the statistics
  std::span<const std::uint8_t> in_place = {};  ///< its samples where they lie; empty: they are in the lane's input
};

/// A frame that a lane has finished.
struct LaneResult {
  int lane = 0;
  EncodedFrame frame;
};

/// A device that encodes frames on lanes. A lane is one chain of dependent frames with its own reference picture; it is
/// given the frames of a GOP in order, key frame first. Lanes do not know of each other, so how many there are never
/// changes a byte. Settings are valid when a backend is opened.
///
/// Threads: each feeder calls input() and submit() for its own lanes, and for each feeder one more thread calls ready() and
/// collect(); all of them at the same time.
class Backend {
 public:
  virtual ~Backend() = default;

  /// For people: "cpu (AVX-512, 2 threads)" or "cuda:0 NVIDIA H200 (sm_90)".
  [[nodiscard]] virtual std::string description() const = 0;

  [[nodiscard]] virtual int lanes() const = 0;

  /// How many frames a lane can hold between submit() and collect().
  [[nodiscard]] virtual int depth() const = 0;

  /// How many threads may submit at the same time, at most one a lane: lane l is fed by thread l % feeders(). A device of
  /// its own for each is what makes more than one worth it.
  [[nodiscard]] virtual int feeders() const { return 1; }

  /// How many frames are worked on at a time, or devices where each frame has its own to itself: stage times add up to so
  /// many times the time of the run where nothing waits.
  [[nodiscard]] virtual int parallelism() const = 0;

  /// Whether it stands still unless what it has finished is collected at once: a thread for each feeder is worth it that does
  /// nothing else. With more than one feeder it must be.
  [[nodiscard]] virtual bool needs_collector() const { return false; }

  /// How many inputs a feeder may have in hand: taken by input() and neither submitted nor discarded.
  [[nodiscard]] virtual int inputs() const { return lanes(); }

  /// Where the next frame of `lane` is to be put: frame_bytes(width, height) bytes, valid until it is submitted. May be
  /// called from several threads at once, while fewer than depth() frames of that lane are uncollected.
  [[nodiscard]] virtual std::span<std::uint8_t> input(int lane) = 0;

  /// Whether frames can be encoded from memory like this, which stays as it is meanwhile, without being put into an input.
  [[nodiscard]] virtual bool takes([[maybe_unused]] std::span<const std::uint8_t> in_place) const { return false; }

  /// There was no frame for what input() gave last.
  virtual void discard_input([[maybe_unused]] int lane) {}

  /// Starts encoding the frames that input() was filled with, or that lie in place, at most one per lane and call. Returns at
  /// once.
  virtual void submit(std::span<const LaneFrame> frames) = 0;

  /// Whether collect() would return at once. A backend that cannot tell says no.
  [[nodiscard]] virtual bool ready([[maybe_unused]] int feeder) { return false; }

  /// Waits for the next finished frame of any of a feeder's lanes; frames of one lane come in order. At least one must be in
  /// flight. Throws what went wrong on the device.
  [[nodiscard]] virtual LaneResult collect(int feeder) = 0;
};

/// Opens the CPU backend: what Encoder uses unless it is given another, and a fallback for those that can fail.
[[nodiscard]] std::unique_ptr<Backend> open_cpu_backend(const EncoderSettings& settings, int max_lanes);

}  // namespace c63
