#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace c63::python {

/// Memory that the library owns and that Python sees through the buffer protocol.
class Samples {
 public:
  Samples() = default;
  template <typename T>
  explicit Samples(std::vector<T>&& values) {
    const auto kept = std::make_shared<std::vector<T>>(std::move(values));
    bytes_ = kept->size() * sizeof(T);
    memory_ = std::shared_ptr<void>(kept, kept->data());
  }

  [[nodiscard]] void* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace c63::python
