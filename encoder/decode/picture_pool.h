#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <utility>

#include "bitstream/prediction_vectors.h"
#include "codec/geometry.h"
#include "cpu/padded_picture.h"
#include "decode/row_progress.h"

namespace c63 {

/// A picture that is decoded or being decoded.
struct DecodedPicture {
  /// Allocates the samples at the first call. Memory is faster for the thread that writes to it first, so call it on
  /// the thread that decodes.
  void allocate(const Geometry& geometry, bool with_prediction) {
    if (allocated) return;
    samples = cpu::PaddedPicture(geometry);
    if (with_prediction) prediction = cpu::PaddedPicture(geometry);
    vectors = PredictionVectors(geometry);
    allocated = true;
  }

  cpu::PaddedPicture samples;
  cpu::PaddedPicture prediction;  ///< empty if predictions are not kept
  PredictionVectors vectors;      ///< vectors of the rows that are entropy decoded so far
  RowProgress progress;
  std::atomic<int> users = 0;
  bool allocated = false;
};

/// A pointer to a picture, which counts as one of the picture's users. A picture with users is not reused.
class PictureRef {
 public:
  PictureRef() = default;
  explicit PictureRef(DecodedPicture* picture) noexcept : picture_(picture) {
    if (picture_ != nullptr) ++picture_->users;
  }
  PictureRef(const PictureRef& other) noexcept : PictureRef(other.picture_) {}
  PictureRef(PictureRef&& other) noexcept : picture_(std::exchange(other.picture_, nullptr)) {}
  PictureRef& operator=(PictureRef other) noexcept {
    std::swap(picture_, other.picture_);
    return *this;
  }
  ~PictureRef() {
    if (picture_ != nullptr) --picture_->users;
  }

  [[nodiscard]] explicit operator bool() const { return picture_ != nullptr; }
  [[nodiscard]] DecodedPicture& operator*() const { return *picture_; }
  [[nodiscard]] DecodedPicture* operator->() const { return picture_; }

 private:
  DecodedPicture* picture_ = nullptr;
};

/// The pictures of a decoder. They are reused when nobody uses them. One thread takes pictures; any thread may release
/// them.
class PicturePool {
 public:
  PicturePool() = default;
  explicit PicturePool(std::size_t count) {
    while (pictures_.size() < count) pictures_.emplace_back();
  }

  [[nodiscard]] std::size_t size() const { return pictures_.size(); }

  /// Returns the first picture without users; null if all have users.
  [[nodiscard]] DecodedPicture* find_free() {
    const auto free = std::ranges::find_if(pictures_, [](const DecodedPicture& picture) { return picture.users == 0; });
    return free != pictures_.end() ? &*free : nullptr;
  }

 private:
  std::deque<DecodedPicture> pictures_;
};

/// The pictures that decoding one frame needs.
struct FramePictures {
  PictureRef picture;    ///< where the frame is decoded to
  PictureRef reference;  ///< null for a key frame
  /// The previous frame, if this frame shares its reference and inherits its vectors; null if the reference advances.
  PictureRef before;
};

/// Keeps track of which picture is the reference of the next frame. Do not call next() for repeats, because they change
/// nothing.
class ReferenceChain {
 public:
  [[nodiscard]] const PictureRef& current() const { return current_; }

  /// Returns the pictures that are needed to decode the next frame, which is decoded to `picture`.
  [[nodiscard]] FramePictures next(bool key, bool advances_reference, DecodedPicture& picture) {
    picture.progress.begin();
    FramePictures pictures{.picture = PictureRef(&picture), .reference = {}, .before = {}};
    if (advances_reference) {
      reference_ = std::move(current_);
    } else {
      pictures.before = std::move(current_);
    }
    current_ = pictures.picture;
    if (key) reference_ = {};
    pictures.reference = reference_;
    return pictures;
  }

 private:
  PictureRef current_;    ///< the last frame
  PictureRef reference_;  ///< the reference of the last frame
};

}  // namespace c63
