#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/backend.h"

namespace c63::test {

/// Backends as one, as several devices are: lane l is the part's l % parts, and every part has a feeder and a collector of
/// its own. Frames may lie in place.
class PartedBackend final : public Backend {
 public:
  /// Counts frames that were taken where they lay.
  using Counter = std::atomic<std::int64_t>;

  PartedBackend(std::vector<std::unique_ptr<Backend>> parts, Counter* in_place) : parts_(std::move(parts)), in_place_(in_place) {}

  [[nodiscard]] std::string description() const override { return "parted"; }
  [[nodiscard]] int lanes() const override { return parts_.front()->lanes() * feeders(); }
  [[nodiscard]] int depth() const override { return parts_.front()->depth(); }
  [[nodiscard]] int feeders() const override { return static_cast<int>(parts_.size()); }
  [[nodiscard]] int parallelism() const override { return feeders(); }
  [[nodiscard]] bool needs_collector() const override { return true; }
  [[nodiscard]] std::span<std::uint8_t> input(int lane) override { return part(lane).input(lane / feeders()); }
  [[nodiscard]] bool takes(std::span<const std::uint8_t>) const override { return in_place_ != nullptr; }
  void submit(std::span<const LaneFrame> frames) override {
    for (LaneFrame frame : frames) {
      Backend& of = part(frame.lane);
      frame.lane /= feeders();
      if (!frame.in_place.empty()) {
        std::ranges::copy(frame.in_place, of.input(frame.lane).begin());
        ++*in_place_;
      }
      of.submit({&frame, 1});
    }
  }
  [[nodiscard]] LaneResult collect(int feeder) override {
    LaneResult result = parts_[static_cast<std::size_t>(feeder)]->collect(0);
    result.lane = result.lane * feeders() + feeder;
    return result;
  }

 private:
  [[nodiscard]] Backend& part(int lane) { return *parts_[static_cast<std::size_t>(lane % feeders())]; }

  std::vector<std::unique_ptr<Backend>> parts_;
  Counter* in_place_;
};

/// A part for each factory, each with as many lanes as the settings say.
inline BackendFactory parted(std::vector<BackendFactory> factories, PartedBackend::Counter* in_place = nullptr) {
  return [=](const EncoderSettings& settings, int /*max_lanes*/) -> std::unique_ptr<Backend> {
    std::vector<std::unique_ptr<Backend>> parts;
    for (const BackendFactory& factory : factories) parts.push_back(factory(settings, settings.execution.lanes));
    return std::make_unique<PartedBackend>(std::move(parts), in_place);
  };
}

}  // namespace c63::test
