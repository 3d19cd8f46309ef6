#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda_me/runtime/check.h"

namespace c63::cuda {

/// Owns one handle of the CUDA runtime. `Release` releases it. It can be moved but not copied.
template <typename T, cudaError_t (*Release)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T handle) noexcept : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    Handle taken(std::move(other));
    std::swap(handle_, taken.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) drop_error(Release(handle_));
  }

  [[nodiscard]] T get() const noexcept { return handle_; }

 private:
  T handle_ = nullptr;
};

}  // namespace c63::cuda
