#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "c63/version.h"

// What lies between the library and a module for media: a shared library of c63's that is opened when it is needed,
// because what it is linked with takes long to load or may be missing. A module has no state of the library's. It is
// given all that it needs, and throws Error. A module and a library of different versions do not go together.

namespace c63 {

/// The library's side of an open source: a file's bytes.
class MediaInput {
 public:
  virtual ~MediaInput() = default;

  /// For people.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Bytes of a regular file; nothing for a pipe or a device.
  [[nodiscard]] virtual std::optional<std::int64_t> size() const = 0;
  /// Reads a regular file at `offset`. Returns how many bytes there were, fewer than asked for only at the end.
  [[nodiscard]] virtual std::size_t read_at(std::int64_t offset, std::span<std::uint8_t> bytes) = 0;
  /// Reads what comes next, waiting only for the first byte; 0 at the end.
  [[nodiscard]] virtual std::size_t read_some(std::span<std::uint8_t> bytes) = 0;
  /// Throws Error (usage, limit) if pictures of this size cannot be coded or exceed the limits.
  virtual void check_picture_size(int width, int height) const = 0;
};

/// The frames of a container in order, from the first one or from a key frame.
class MediaSource : public FrameSource {
 public:
  [[nodiscard]] std::optional<std::int64_t> frame_count() const final { return std::nullopt; }
  [[nodiscard]] bool seekable() const final { return false; }
  /// Makes a key frame the next one that is read; before the first read() or between two. Returns false if it is not
  /// found: then the source is of no more use.
  [[nodiscard]] virtual bool go_to(const SeekTable::Point& point) = 0;
  /// What a SeekTable has of a frame with these samples.
  [[nodiscard]] virtual std::uint64_t sum_of(std::span<const std::uint8_t> samples) const = 0;
};

/// Converts pictures of one size and layout to 8-bit 4:2:0. Not for several threads at once.
class MediaConverter {
 public:
  virtual ~MediaConverter() = default;
  /// `picture` is planes without gaps. `frame` takes frame_bytes() of the size padded to even sides, by repeating the
  /// last column and row.
  virtual void convert_packed(std::span<const std::uint8_t> picture, std::span<std::uint8_t> frame) = 0;
};

enum class PictureCode { png, jpeg };

class MediaModule {
 public:
  /// Opens a container. Throws Error.
  [[nodiscard]] virtual std::unique_ptr<MediaSource> open_source(std::unique_ptr<MediaInput> input,
                                                                 const SourceOptions& options) const = 0;
  /// `pixel_format` is FFmpeg's name of a layout. Throws Error (input, C63-AV-PIXEL-FORMAT) for one that cannot be
  /// converted.
  [[nodiscard]] virtual std::unique_ptr<MediaConverter> make_converter(const std::string& pixel_format, int width,
                                                                       int height) const = 0;
  [[nodiscard]] virtual bool can_encode(PictureCode code) const = 0;
  /// A picture as PNG, from RGB, or as JPEG, from planes of 4:2:0 in full range with rounded-up chroma, without gaps.
  /// `quality` is JPEG's, from 2, the best, to 31. `take` gets the bytes, which are valid until it returns. Throws Error
  /// (limit, C63-PICTURE-SIZE) for a picture that is too large for FFmpeg.
  virtual void encode(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
                      const std::function<void(std::span<const std::uint8_t>)>& take) const = 0;
  /// As keep_media_messages() and limit_media_allocations() of c63/media.h.
  virtual void keep_messages() const = 0;
  virtual void limit_allocations(std::uint64_t bytes) const = 0;

 protected:
  ~MediaModule() = default;  // it stays as long as the process
};

/// What a module and the library must have in common: c63's version and, for builds between two versions, a number that
/// grows with every change of this file.
inline std::string media_version() { return version() + ", interface 2"; }

/// A module's only entry, by the name kMediaEntry. Sets `has` to the module's media_version(), and returns null if
/// `wanted` is another.
using MediaEntry = const MediaModule* (*)(const char* wanted, const char** has);
inline constexpr const char* kMediaEntry = "c63_media_module";

}  // namespace c63
