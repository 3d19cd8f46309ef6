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

/// A picture that is decoded, or being so.
struct DecodedPicture {
  /// Makes room for its samples, the first time it is called: whoever fills memory first should be who uses it.
  void allocate(const Geometry& geometry, bool with_prediction) {
    if (allocated) return;
    samples = cpu::PaddedPicture(geometry);
    if (with_prediction) prediction = cpu::PaddedPicture(geometry);
    vectors = PredictionVectors(geometry);
    allocated = true;
  }

  cpu::PaddedPicture samples;
  cpu::PaddedPicture prediction;  ///< empty unless kept
  PredictionVectors vectors;      ///< of the rows that are entropy decoded
  RowProgress progress;
  std::atomic<int> users = 0;
  bool allocated = false;
};

/// Keeps a picture from being decoded into again.
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

/// The pictures of a decoder, which are used again and again. One thread takes them, any may give them back.
class PicturePool {
 public:
  PicturePool() = default;
  explicit PicturePool(std::size_t count) {
    while (pictures_.size() < count) pictures_.emplace_back();
  }

  [[nodiscard]] std::size_t size() const { return pictures_.size(); }

  /// A picture that nobody uses, the same ones as long as they do; none where all are in use.
  [[nodiscard]] DecodedPicture* find_free() {
    const auto free = std::ranges::find_if(pictures_, [](const DecodedPicture& picture) { return picture.users == 0; });
    return free != pictures_.end() ? &*free : nullptr;
  }

 private:
  std::deque<DecodedPicture> pictures_;
};

/// What a frame of a stream is decoded with.
struct FramePictures {
  PictureRef picture;    ///< to decode into
  PictureRef reference;  ///< what it is predicted from; none for a key frame
  PictureRef before;     ///< the frame whose place it takes, and whose vectors it inherits; none where the reference advances
};

/// Follows which picture is the reference from frame to frame. A repeat changes nothing.
class ReferenceChain {
 public:
  [[nodiscard]] const PictureRef& current() const { return current_; }

  /// The pictures of the next frame, which is decoded into `picture`.
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
  PictureRef current_;    ///< the frame before
  PictureRef reference_;  ///< what that one was predicted from
};

}  // namespace c63
