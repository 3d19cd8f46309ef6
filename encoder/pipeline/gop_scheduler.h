#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "pipeline/scene_cuts.h"

namespace c63 {

/// Hands out whole GOPs in order: frames that depend on nothing before the GOP's key frame. Where a GOP ends may become
/// known only on the way, for scene cuts are looked for no further ahead than a lane needs, and so may the video's end.
class GopScheduler {
 public:
  /// Starts at frame `first`, which is a key frame. GOPs have `key_interval` frames; they are shorter where `cuts`, if
  /// there is one, finds a scene cut.
  GopScheduler(int key_interval, std::int64_t first, SceneCuts* cuts)
      : key_interval_(key_interval), first_(first), cuts_(cuts) {}

  /// There is no frame `end`, nor any behind it. The nearest end counts.
  void end_at(std::int64_t end) { end_ = std::min(end_, end); }

  [[nodiscard]] std::int64_t end() const { return end_; }

  /// Key frame of the next GOP; nothing past the end.
  [[nodiscard]] std::optional<std::int64_t> next() {
    const std::int64_t key = last_ ? first_cut(*last_ + 1, *last_ + key_interval_) : first_cut(first_, first_);
    if (key >= end_) return std::nullopt;
    last_ = key;
    return key;
  }

  /// Whether frame `index` belongs to the GOP of key frame `key`, which the frame before it does.
  [[nodiscard]] bool continues(std::int64_t key, std::int64_t index) {
    return index < end_ && index < key + key_interval_ && first_cut(index, index + 1) != index;
  }

 private:
  [[nodiscard]] std::int64_t first_cut(std::int64_t begin, std::int64_t end) {
    return cuts_ != nullptr ? cuts_->first_in(begin, end) : end;
  }

  int key_interval_;
  std::int64_t first_;
  std::optional<std::int64_t> last_;  ///< key frame of the GOP that was handed out last
  std::int64_t end_ = std::numeric_limits<std::int64_t>::max();
  SceneCuts* cuts_;
};

}  // namespace c63
