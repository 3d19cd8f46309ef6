#pragma once

#include <memory>
#include <span>

#include "c63/error.h"
#include "cpu/cpu_backend.h"
#include "pipeline/backend.h"

namespace c63::test {

/// The CPU backend until a frame count is reached; then the device is lost.
class FailingBackend final : public Backend {
 public:
  FailingBackend(const EncoderSettings& settings, int max_lanes, int frames, ErrorKind kind)
      : backend_(cpu::make_cpu_backend(settings, max_lanes)), left_(frames), kind_(kind) {}

  [[nodiscard]] std::string description() const override { return "failing"; }
  [[nodiscard]] int lanes() const override { return backend_->lanes(); }
  [[nodiscard]] int depth() const override { return backend_->depth(); }
  [[nodiscard]] int parallelism() const override { return backend_->parallelism(); }
  [[nodiscard]] std::span<std::uint8_t> input(int lane) override { return backend_->input(lane); }
  void submit(std::span<const LaneFrame> frames) override { backend_->submit(frames); }
  [[nodiscard]] LaneResult collect(int feeder) override {
    if (left_-- == 0) throw Error(kind_, "TEST-DEVICE-LOST", "the device is gone");
    return backend_->collect(feeder);
  }

 private:
  std::unique_ptr<Backend> backend_;
  int left_;
  ErrorKind kind_;
};

/// Opens one; with less than 0 frames, opening fails.
inline BackendFactory failing_after(int frames, ErrorKind kind = ErrorKind::device) {
  return [frames, kind](const EncoderSettings& settings, int max_lanes) -> std::unique_ptr<Backend> {
    if (frames < 0) throw Error(kind, "TEST-NO-DEVICE", "there is no device");
    return std::make_unique<FailingBackend>(settings, max_lanes, frames, kind);
  };
}

}  // namespace c63::test
