#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "c63/error.h"

namespace c63::test {

/// Passes all calls on to another backend. Derived classes change some of them.
class WrappedBackend : public Backend {
 public:
  explicit WrappedBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] const BackendInfo& info() const override { return inner_->info(); }
  [[nodiscard]] std::span<std::uint8_t> input(int chain) override { return inner_->input(chain); }
  void discard_input(int chain) override { inner_->discard_input(chain); }
  void submit(std::span<const ChainFrame> frames) override { inner_->submit(frames); }
  void collect(std::vector<CodedFrame>& finished) override { inner_->collect(finished); }
  void drop() noexcept override { inner_->drop(); }

 private:
  std::unique_ptr<Backend> inner_;
};

/// Returns a factory that wraps the CPU's backend in a `Wrapper`, which also gets these arguments.
template <typename Wrapper, typename... Arguments>
BackendFactory wrapped_cpu(Arguments&... arguments) {
  return [&arguments...](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    return std::make_unique<Wrapper>(open_cpu_backend(encode, max_chains), arguments...);
  };
}

/// Fails after it has returned `frames` frames, as if the device were lost.
class FailingBackend final : public WrappedBackend {
 public:
  FailingBackend(std::unique_ptr<Backend> inner, int frames, ErrorKind kind)
      : WrappedBackend(std::move(inner)), left_(frames), kind_(kind) {}

  void collect(std::vector<CodedFrame>& finished) override {
    // The CPU backend may give several frames at a time. They are returned one by one, so the failure comes after
    // exactly the right number of frames.
    while (waiting_.empty() && !is_abandoned_) WrappedBackend::collect(waiting_);
    if (is_abandoned_) return;
    if (left_-- == 0) throw Error(kind_, "TEST-DEVICE-LOST", "the device is gone");
    finished.push_back(std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
  }
  void drop() noexcept override {
    is_abandoned_ = true;
    WrappedBackend::drop();
  }

 private:
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
    return std::make_unique<FailingBackend>(open_cpu_backend(encode, max_chains), frames, kind);
  };
}

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

/// Returns no coded frame until its gate is open.
class GatedBackend final : public WrappedBackend {
 public:
  GatedBackend(std::unique_ptr<Backend> inner, Gate& gate) : WrappedBackend(std::move(inner)), gate_(gate) {}

  void submit(std::span<const ChainFrame> frames) override {
    WrappedBackend::submit(frames);
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
    WrappedBackend::collect(finished);
  }
  void drop() noexcept override {
    WrappedBackend::drop();
    const std::lock_guard lock(gate_.mutex_);
    gate_.dropped_ = true;
    gate_.changed_.notify_all();
  }

 private:
  Gate& gate_;
};

/// Accepts all frames that a source offers in place, and counts them.
class InPlaceBackend final : public WrappedBackend {
 public:
  using Counter = std::atomic<std::int64_t>;
  InPlaceBackend(std::unique_ptr<Backend> inner, Counter& taken) : WrappedBackend(std::move(inner)), taken_(taken) {}

  [[nodiscard]] bool accepts(std::span<const std::uint8_t>) const override { return true; }
  void submit(std::span<const ChainFrame> frames) override {
    for (const ChainFrame& frame : frames) {
      if (frame.in_place.empty()) continue;
      std::ranges::copy(frame.in_place, input(frame.chain).begin());
      ++taken_;
    }
    WrappedBackend::submit(frames);
  }

 private:
  Counter& taken_;
};

}  // namespace c63::test
