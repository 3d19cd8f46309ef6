#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <utility>

#include "bitstream/inherited_vectors.h"
#include "codec/geometry.h"
#include "cpu/padded_picture.h"
#include "pipeline/row_progress.h"

namespace c63 {

/// A picture that is decoded, or being so.
struct DecodedPicture {
  cpu::PaddedPicture samples;
  cpu::PaddedPicture prediction;  ///< empty unless kept
  InheritedVectors vectors;       ///< what its blocks were predicted with; there when all its rows are
  RowProgress progress;
  std::atomic<int> users = 0;
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

/// The pictures of a decoder: allocated once, used again. One thread takes them, any may give them back.
class PicturePool {
 public:
  PicturePool() = default;
  PicturePool(const Geometry& geometry, std::size_t count, bool with_prediction) {
    while (pictures_.size() < count) {
      DecodedPicture& picture = pictures_.emplace_back();
      picture.samples = cpu::PaddedPicture(geometry);
      if (with_prediction) picture.prediction = cpu::PaddedPicture(geometry);
      picture.vectors = InheritedVectors(geometry);
    }
  }

  [[nodiscard]] std::size_t size() const { return pictures_.size(); }

  /// A picture that nobody uses; none where all are in use.
  [[nodiscard]] DecodedPicture* find_free() {
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      DecodedPicture& picture = pictures_[(next_ + i) % pictures_.size()];
      if (picture.users != 0) continue;
      next_ = (next_ + i) % pictures_.size();
      return &picture;
    }
    return nullptr;
  }

 private:
  std::deque<DecodedPicture> pictures_;
  std::size_t next_ = 0;
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
