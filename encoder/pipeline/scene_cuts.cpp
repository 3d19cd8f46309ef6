#include "pipeline/scene_cuts.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "c63/filters.h"

namespace c63 {
namespace {

/// How many frames are looked at together where the source can be read from several threads.
constexpr std::size_t kFramesAtOnce = 16;

}  // namespace

SceneCuts::SceneCuts(FrameFeeder& feeder, const VideoFormat& format, std::stop_token stop)
    : feeder_(feeder), stop_(std::move(stop)), luma_samples_(plane_bytes(format.width, format.height, 0)) {}

bool SceneCuts::measure(std::int64_t index, Histogram& histogram) {
  std::vector<std::uint8_t> buffer;
  const auto frame = feeder_.look_at(index, buffer);
  if (frame.empty()) return false;
  c63::histogram(frame.first(luma_samples_), BinMap::identity(), histogram);
  return true;
}

void SceneCuts::look_ahead(std::size_t frames) {
  while (ahead_.size() < frames && !ended_) {
    std::array<Histogram, kFramesAtOnce> histograms;
    std::array<bool, kFramesAtOnce> measured{};
    const std::int64_t first = next_ + static_cast<std::int64_t>(ahead_.size());
    const std::size_t count = feeder_.concurrent() ? kFramesAtOnce : 1;
    oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      measured[i] = measure(first + static_cast<std::int64_t>(i), histograms[i]);
    });
    const auto end = std::ranges::find(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(count), false);
    ahead_.insert(ahead_.end(), histograms.begin(), histograms.begin() + (end - measured.begin()));
    ended_ = end - measured.begin() < static_cast<std::ptrdiff_t>(count);
  }
}

void SceneCuts::decide() {
  look_ahead(2);
  if (!ahead_.empty()) {
    const bool differs = next_ > 0 && is_scene_cut(scene_, ahead_[0]);
    const bool flash = differs && ahead_.size() > 1 && !is_scene_cut(scene_, ahead_[1]);
    if (differs && !flash) cuts_.insert(next_);
    if (!flash) scene_ = ahead_[0];
    ahead_.pop_front();
  }
  ++next_;
}

std::int64_t SceneCuts::first_in(std::int64_t begin, std::int64_t end) {
  for (;;) {
    if (const auto cut = cuts_.lower_bound(begin); cut != cuts_.end()) return std::min(*cut, end);
    if (stop_.stop_requested() || (ended_ && ahead_.empty())) return end;
    if (next_ >= end) {
      look_ahead(1);
      return end;
    }
    decide();
  }
}

}  // namespace c63
