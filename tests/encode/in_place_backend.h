#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace c63::test {

/// Wraps another backend. It accepts all frames that a source offers in place, and counts them.
class InPlaceBackend final : public Backend {
 public:
  using Counter = std::atomic<std::int64_t>;

  InPlaceBackend(std::unique_ptr<Backend> inner, Counter& taken) : inner_(std::move(inner)), taken_(taken) {}

  [[nodiscard]] const BackendInfo& info() const override { return inner_->info(); }
  [[nodiscard]] std::span<std::uint8_t> input(int chain) override { return inner_->input(chain); }
  [[nodiscard]] bool accepts(std::span<const std::uint8_t>) const override { return true; }
  void submit(std::span<const ChainFrame> frames) override {
    for (const ChainFrame& frame : frames) {
      if (frame.in_place.empty()) continue;
      std::ranges::copy(frame.in_place, inner_->input(frame.chain).begin());
      ++taken_;
    }
    inner_->submit(frames);
  }
  void collect(std::vector<CodedFrame>& finished) override { inner_->collect(finished); }

 private:
  std::unique_ptr<Backend> inner_;
  Counter& taken_;
};

/// Returns a factory that wraps the backend of `inner` in an InPlaceBackend.
inline BackendFactory in_place(BackendFactory inner, InPlaceBackend::Counter& taken) {
  return [inner = std::move(inner), &taken](const ResolvedEncode& encode, int max_chains) -> std::unique_ptr<Backend> {
    return std::make_unique<InPlaceBackend>(inner(encode, max_chains), taken);
  };
}

}  // namespace c63::test
