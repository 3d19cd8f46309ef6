#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "c63/error.h"

namespace c63::test {

/// The CPU backend, which fails after it has returned `frames` frames, as if the device were lost.
class FailingBackend final : public Backend {
 public:
  FailingBackend(const ResolvedEncode& encode, int max_chains, int frames, ErrorKind kind)
      : backend_(open_cpu_backend(encode, max_chains)), left_(frames), kind_(kind) {}

  [[nodiscard]] const BackendInfo& info() const override { return backend_->info(); }
  [[nodiscard]] std::span<std::uint8_t> input(int chain) override { return backend_->input(chain); }
  void submit(std::span<const ChainFrame> frames) override { backend_->submit(frames); }
  void collect(std::vector<CodedFrame>& finished) override {
    // The CPU backend may give several frames at a time. They are returned one by one, so the failure comes after
    // exactly the right number of frames.
    while (waiting_.empty() && !is_abandoned_) backend_->collect(waiting_);
    if (is_abandoned_) return;
    if (left_-- == 0) throw Error(kind_, "TEST-DEVICE-LOST", "the device is gone");
    finished.push_back(std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
  }
  void drop() noexcept override {
    is_abandoned_ = true;
    backend_->drop();
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<CodedFrame> waiting_;
  int left_;
  ErrorKind kind_;
  std::atomic<bool> is_abandoned_ = false;
};

/// Returns a factory that makes a FailingBackend, which fails after `frames` frames. If `frames` is negative, the factory
/// itself throws.
inline BackendFactory failing_after(int frames, ErrorKind kind = ErrorKind::device) {
  return [frames, kind](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    if (frames < 0) throw Error(kind, "TEST-NO-DEVICE", "there is no device");
    return std::make_unique<FailingBackend>(encode, max_chains, frames, kind);
  };
}

}  // namespace c63::test
