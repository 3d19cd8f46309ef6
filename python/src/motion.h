#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "c63/motion.h"

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

/// The vectors of a plane, as Python gets them.
struct PlaneMotion {
  explicit PlaneMotion(MotionField&& field)
      : rows(field.rows), columns(field.columns), vectors(std::move(field.vectors)), sads(std::move(field.sads)),
        inter(std::move(field.inter)) {}

  int rows;
  int columns;
  Samples vectors;  ///< int8: x and y of each block
  Samples sads;     ///< uint16 for each block; empty: not known
  Samples inter;    ///< one byte for each block, 1: predicted by its vector; empty: all blocks are
};

}  // namespace c63::python
