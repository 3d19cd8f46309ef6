#include "encode/scene_cuts.h"

#include <limits>

#include "c63/filters.h"

namespace c63 {

SceneCuts::SceneCuts(std::span<const std::int64_t> starts)
    : cuts_(starts.begin(), starts.end()), decided_(std::numeric_limits<std::int64_t>::max()) {}

SceneCuts::Histogram SceneCuts::histogram_of(std::span<const std::uint8_t> luma) {
  Histogram counts{};
  histogram(luma, BinMap::identity(), counts);
  return counts;
}

void SceneCuts::add(const Histogram& histogram) {
  if (decided_ == std::numeric_limits<std::int64_t>::max()) return;
  pending_.push_back(histogram);
  decide();
}

void SceneCuts::end() {
  ended_ = true;
  decide();
}

void SceneCuts::decide() {
  for (; !pending_.empty(); pending_.pop_front(), ++decided_) {
    const bool differs = decided_ > 0 && is_scene_cut(scene_, pending_[0]);
    if (differs && pending_.size() == 1 && !ended_) return;
    const bool flash = differs && pending_.size() > 1 && !is_scene_cut(scene_, pending_[1]);
    if (differs && !flash) cuts_.insert(decided_);
    if (!flash) scene_ = pending_[0];
  }
}

}  // namespace c63
