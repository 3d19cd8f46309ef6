#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace c63 {

/// Frames [first, end) that depend on nothing before them.
struct Gop {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

/// Hands out whole GOPs in order. Where the video ends may become known only on the way.
class GopScheduler {
 public:
  /// Starts at frame `first`, which is a key frame as all multiples of `key_interval` are.
  GopScheduler(int key_interval, std::int64_t first) : key_interval_(key_interval), next_(first) {}

  /// There is no frame `end`, nor any behind it. The nearest end counts.
  void end_at(std::int64_t end) { end_ = std::min(end_, end); }

  [[nodiscard]] std::int64_t end() const { return end_; }

  /// The next GOP, cut at the end that is known so far; nothing behind the end.
  [[nodiscard]] std::optional<Gop> next() {
    if (next_ >= end_) return std::nullopt;
    const Gop gop{next_, next_ + key_interval_};
    next_ = gop.end;
    return gop;
  }

 private:
  int key_interval_;
  std::int64_t next_;
  std::int64_t end_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace c63
