#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace c63::test {

/// Makes a GatedBackend wait: it returns no coded frame until open() is called.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// Waits until this many frames have been submitted to the device.
  void wait_for_submitted(int frames) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return submitted_ >= frames; });
  }
  [[nodiscard]] int submitted() {
    const std::lock_guard lock(mutex_);
    return submitted_;
  }

 private:
  friend class GatedBackend;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  bool dropped_ = false;
  int submitted_ = 0;
};

/// The CPU backend, but it returns no coded frame until its gate is open.
class GatedBackend final : public Backend {
 public:
  GatedBackend(std::unique_ptr<Backend> inner, Gate& gate) : inner_(std::move(inner)), gate_(gate) {}

  [[nodiscard]] const BackendInfo& info() const override { return inner_->info(); }
  [[nodiscard]] std::span<std::uint8_t> input(int chain) override { return inner_->input(chain); }
  void discard_input(int chain) override { inner_->discard_input(chain); }
  void submit(std::span<const ChainFrame> frames) override {
    inner_->submit(frames);
    const std::lock_guard lock(gate_.mutex_);
    gate_.submitted_ += static_cast<int>(frames.size());
    gate_.changed_.notify_all();
  }
  void collect(std::vector<CodedFrame>& finished) override {
    {
      std::unique_lock lock(gate_.mutex_);
      gate_.changed_.wait(lock, [this] { return gate_.open_ || gate_.dropped_; });
      if (!gate_.open_) return;
    }
    inner_->collect(finished);
  }
  void drop() noexcept override {
    inner_->drop();
    const std::lock_guard lock(gate_.mutex_);
    gate_.dropped_ = true;
    gate_.changed_.notify_all();
  }

 private:
  std::unique_ptr<Backend> inner_;
  Gate& gate_;
};

inline BackendFactory behind(Gate& gate) {
  return [&gate](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    return std::make_unique<GatedBackend>(open_cpu_backend(encode, max_chains), gate);
  };
}

}  // namespace c63::test
