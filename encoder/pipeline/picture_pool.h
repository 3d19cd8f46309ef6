#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <utility>

#include "bitstream/prediction_vectors.h"
#include "codec/geometry.h"
#include "cpu/padded_picture.h"
#include "pipeline/row_progress.h"

namespace c63 {

/// A picture that is decoded or being decoded.
struct DecodedPicture {
  /// Allocates its samples at the first call. The thread that uses memory should be the one that fills it first.
  void allocate(const Geometry& geometry, bool with_prediction) {
    if (allocated) return;
    samples = cpu::PaddedPicture(geometry);
    if (with_prediction) prediction = cpu::PaddedPicture(geometry);
    vectors = PredictionVectors(geometry);
    allocated = true;
  }

  cpu::PaddedPicture samples;
  cpu::PaddedPicture prediction;  ///< empty if it is not kept
  PredictionVectors vectors;      ///< of the rows that are entropy decoded
  RowProgress progress;
  std::atomic<int> users = 0;
  bool allocated = false;
};

/// Keeps a picture from being reused.
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

/// The pictures of a decoder, which are reused. One thread takes them; any thread may give them back.
class PicturePool {
 public:
  PicturePool() = default;
  explicit PicturePool(std::size_t count) {
    while (pictures_.size() < count) pictures_.emplace_back();
  }

  [[nodiscard]] std::size_t size() const { return pictures_.size(); }

  /// Returns a picture that nobody uses, the first one if there are several; null if all are in use.
  [[nodiscard]] DecodedPicture* find_free() {
    const auto free = std::ranges::find_if(pictures_, [](const DecodedPicture& picture) { return picture.users == 0; });
    return free != pictures_.end() ? &*free : nullptr;
  }

 private:
  std::deque<DecodedPicture> pictures_;
};

/// The pictures that a frame is decoded with.
struct FramePictures {
  PictureRef picture;    ///< to decode into
  PictureRef reference;  ///< null for a key frame
  PictureRef before;     ///< the frame whose place it takes and whose vectors it inherits; null if the reference advances
};

/// Keeps track of the reference from frame to frame. A repeat changes nothing.
class ReferenceChain {
 public:
  [[nodiscard]] const PictureRef& current() const { return current_; }

  /// Returns the pictures of the next frame, which is decoded into `picture`.
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
  PictureRef current_;    ///< the previous frame
  PictureRef reference_;  ///< the reference of that frame
};

}  // namespace c63
