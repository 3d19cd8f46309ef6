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

/// What a container says of showing a stream that coded frames do not carry: a warning if it is to be turned or
/// mirrored.
[[nodiscard]] std::optional<std::string> turned_warning(const AVStream& stream);

/// Finds out whether frames are shown for different times. What is encoded has one frame rate.
class FrameTimes {
 public:
  /// `unit` is the seconds that times count.
  explicit FrameTimes(double unit = 0) : unit_(unit) {}

  /// A packet goes to the decoder under a mark that its frame will carry; `time` is when that is to be shown.
  void add_packet(std::int64_t mark, std::int64_t time);

  /// The next frame to be shown, by its mark. Returns a warning with the first interval that differs from those before.
  [[nodiscard]] std::optional<std::string> add_frame(std::int64_t mark, std::int64_t index, FrameRate rate);

 private:
  double unit_;
  std::map<std::int64_t, std::int64_t> times_;  ///< by mark, of packets whose frames are to come
  std::optional<std::int64_t> last_;
  std::optional<std::int64_t> interval_;
  bool told_ = false;
};

}  // namespace c63
