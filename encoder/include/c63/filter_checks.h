#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "c63/error.h"
#include "c63/filters.h"
#include "c63/picture.h"

// The checks of a filter's arguments, for filters on the CPU and on a GPU. All throw Error (usage) with the shapes in
// the message.

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
          std::string(what) + ": a picture of " + shape_of(view) + " cannot have rows " + std::to_string(view.pitch) +
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
  if (a == b) return;  // the message is only built for an error, because building it takes longer than a short sum
  require(false, "C63-FILTER-SHAPE",
          std::string(a_name) + " has " + std::to_string(a) + " values, " + b_name + " has " + std::to_string(b));
}

/// Throws if two ranges of memory share a byte.
inline void check_apart(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  require(a_bytes == 0 || b_bytes == 0 || x + a_bytes <= y || y + b_bytes <= x, "C63-FILTER-OVERLAP",
          "the output overlaps the input (" + std::to_string(a_bytes) + " and " + std::to_string(b_bytes) + " bytes)");
}

/// The number of bytes from the first to the last sample of a view.
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

/// Checks the shapes for c = a · b.
inline void check_product(const BasicPlaneView<const float>& a, const BasicPlaneView<const float>& b,
                          const BasicPlaneView<float>& c) {
  check_view(a, "the left matrix");
  check_view(b, "the right matrix");
  check_view(c, "the product");
  require(a.width == b.height && c.height == a.height && c.width == b.width, "C63-FILTER-SHAPE",
          "the left matrix has " + std::to_string(a.height) + " rows and " + std::to_string(a.width) +
              " columns, the right one " + std::to_string(b.height) + " and " + std::to_string(b.width) +
              ", the product " + std::to_string(c.height) + " and " + std::to_string(c.width));
  check_apart(a, c);
  check_apart(b, c);
}

/// Throws if the history is empty, too long, or has frames of another size than `frame`.
template <typename Sample>
void check_history(const BasicPlaneView<const Sample>& frame, std::span<const BasicPlaneView<const Sample>> history) {
  check_view(frame, "the frame");
  require(!history.empty() && history.size() <= kMaxMemory, "C63-WHITEN-SETTING",
          "a history of " + std::to_string(history.size()) + " frames: 1 to " + std::to_string(kMaxMemory) +
              " can be used");
  for (std::size_t k = 0; k < history.size(); ++k) {
    check_same_shape(frame, "the frame", history[k], ("history frame " + std::to_string(k + 1)).c_str());
  }
}

// Checks of whitening, which throw Error (input).

inline void check_memory(int wanted, std::size_t frames) {
  if (frames == static_cast<std::size_t>(wanted)) return;
  throw Error(ErrorKind::input, "C63-WHITEN-MEMORY",
              "a memory of " + std::to_string(wanted) + " frames was requested, but there are only " +
                  std::to_string(frames) + " before this one");
}

template <typename T>
void check_frame_size(const BasicPlaneView<T>& frame, int width, int height) {
  check_view(frame, "the frame");
  if (frame.width == width && frame.height == height) return;
  throw Error(ErrorKind::input, "C63-FRAME-SIZE",
              "a frame of " + shape_of(frame) + " in a sequence of " + std::to_string(width) + "x" + std::to_string(height));
}

inline void check_texture(bool has_texture) {
  if (has_texture) return;
  throw Error(ErrorKind::input, "C63-SHIFT-TEXTURELESS",
              "the reference frame has no texture, or only along one direction: shifts cannot be measured; "
              "whitening by correlation works without shifts");
}

}  // namespace c63
