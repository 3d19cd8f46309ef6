#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "c63/error.h"
#include "c63/picture.h"

namespace c63 {

inline void require(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

template <typename T>
[[nodiscard]] std::string shape_of(const BasicPlaneView<T>& view) {
  return std::to_string(view.width) + "x" + std::to_string(view.height);
}

template <typename T>
void check_view(const BasicPlaneView<T>& view, const char* what) {
  require(view.width >= 0 && view.height >= 0 && (view.pitch >= view.width || view.height <= 1), "C63-FILTER-SHAPE",
          std::string(what) + ": no picture of " + shape_of(view) + " with rows " + std::to_string(view.pitch) +
              " samples apart");
}

template <typename A, typename B>
void check_same_shape(const BasicPlaneView<A>& a, const char* a_name, const BasicPlaneView<B>& b, const char* b_name) {
  check_view(a, a_name);
  check_view(b, b_name);
  require(a.width == b.width && a.height == b.height, "C63-FILTER-SHAPE",
          std::string(a_name) + " is " + shape_of(a) + ", " + b_name + " is " + shape_of(b));
}

inline void check_same_length(std::size_t a, const char* a_name, std::size_t b, const char* b_name) {
  require(a == b, "C63-FILTER-SHAPE",
          std::string(a_name) + " has " + std::to_string(a) + " values, " + b_name + " has " + std::to_string(b));
}

/// Throws if two ranges of memory share a byte.
inline void check_apart(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  require(a_bytes == 0 || b_bytes == 0 || x + a_bytes <= y || y + b_bytes <= x, "C63-FILTER-OVERLAP",
          "the output overlaps the input (" + std::to_string(a_bytes) + " and " + std::to_string(b_bytes) + " bytes)");
}

/// Bytes from the first sample of a view to behind its last.
template <typename T>
[[nodiscard]] std::size_t extent_bytes(const BasicPlaneView<T>& view) {
  if (view.width == 0 || view.height == 0) return 0;
  return (static_cast<std::size_t>(view.height - 1) * static_cast<std::size_t>(view.pitch) +
          static_cast<std::size_t>(view.width)) *
         sizeof(T);
}

template <typename A, typename B>
void check_apart(const BasicPlaneView<A>& a, const BasicPlaneView<B>& b) {
  check_apart(a.data, extent_bytes(a), b.data, extent_bytes(b));
}

}  // namespace c63
