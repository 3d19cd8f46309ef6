#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "c63/picture.h"

extern "C" {
struct AVStream;
}

namespace c63 {

/// Returns a warning if the container asks for a rotated or mirrored display, because a c63 stream cannot say that.
[[nodiscard]] std::optional<std::string> turned_warning(const AVStream& stream);

/// The presentation times of frames. Detects uneven ones, because an encoded stream has only one frame rate.
class FrameTimes {
 public:
  /// `unit` is the container's time unit, in seconds.
  explicit FrameTimes(double unit = 0) : unit_(unit) {}

  /// Adds a packet with its presentation time. `mark` is a number that the packet's frame will carry after decoding.
  void add_packet(std::int64_t mark, std::int64_t time);

  /// Adds the next frame in display order, by its mark. Returns a warning at the first interval between frames that
  /// clearly differs from the very first one.
  [[nodiscard]] std::optional<std::string> add_frame(std::int64_t mark, std::int64_t index, FrameRate rate);

  /// Returns the presentation time of the frame that was added last, in seconds; empty if the container does not give it.
  [[nodiscard]] std::optional<double> time() const { return time_; }

 private:
  double unit_;
  /// Presentation times by mark, for packets whose frames were not added yet.
  std::map<std::int64_t, std::int64_t> times_;
  std::optional<double> time_;
  std::optional<std::int64_t> last_;
  std::optional<std::int64_t> interval_;
  bool told_ = false;
};

}  // namespace c63
