#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "c63/frame_source.h"
#include "c63/version.h"

// The interface between the library and a media module. A module is a shared library of c63. It is opened when it is
// needed, because its dependencies take long to load or may be missing. A module shares no state with the library: it
// is given everything that it needs, and throws Error. Module and library must have the same version.

namespace c63 {

/// The bytes of a file that the library has opened for a module.
class MediaInput {
 public:
  virtual ~MediaInput() = default;

  /// The file's name, for messages.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The number of bytes of a regular file; empty for a pipe or a device.
  [[nodiscard]] virtual std::optional<std::int64_t> size() const = 0;
  /// Reads a regular file from `offset` on. Returns the number of bytes, which is lower than requested only at the end.
  [[nodiscard]] virtual std::size_t read_at(std::int64_t offset, std::span<std::uint8_t> bytes) = 0;
  /// Reads the bytes that come next. Waits only until there is at least one byte. Returns the number of bytes; 0 at the
  /// end.
  [[nodiscard]] virtual std::size_t read_some(std::span<std::uint8_t> bytes) = 0;
  /// Throws Error (usage, limit) if pictures of this size cannot be coded or exceed the limits.
  virtual void check_picture_size(int width, int height) const = 0;
};

/// The frames of a container, in order from the first frame or from a key frame on.
class MediaSource : public FrameSource {
 public:
  [[nodiscard]] std::optional<std::int64_t> frame_count() const final { return std::nullopt; }
  [[nodiscard]] bool seekable() const final { return false; }
  /// Makes the key frame at `point` the next frame to be read. Call it before the first read() or between two calls of
  /// read(). Returns false if the key frame is not found; the source cannot be used after that.
  [[nodiscard]] virtual bool go_to(const SeekTable::Point& point) = 0;
  /// Returns the checksum that a SeekTable has for a frame with these samples.
  [[nodiscard]] virtual std::uint64_t sum_of(std::span<const std::uint8_t> samples) const = 0;
};

/// Converts pictures of one size and layout to 8-bit 4:2:0. Only one thread at a time may use it.
class MediaConverter {
 public:
  virtual ~MediaConverter() = default;
  /// Converts `picture`, whose planes have no gaps, to `frame`. `frame` has the frame_bytes() of the size padded to
  /// even sides. The padding repeats the last column and row.
  virtual void convert_packed(std::span<const std::uint8_t> picture, std::span<std::uint8_t> frame) = 0;
};

enum class PictureCode { png, jpeg };

class MediaModule {
 public:
  /// Opens a container. Throws Error.
  [[nodiscard]] virtual std::unique_ptr<MediaSource> open_source(std::unique_ptr<MediaInput> input,
                                                                 const SourceOptions& options) const = 0;
  /// `pixel_format` is FFmpeg's name for a layout of samples. Throws Error (input, C63-AV-PIXEL-FORMAT) if it cannot be
  /// converted.
  [[nodiscard]] virtual std::unique_ptr<MediaConverter> make_converter(const std::string& pixel_format, int width,
                                                                       int height) const = 0;
  [[nodiscard]] virtual bool can_encode(PictureCode code) const = 0;
  /// Encodes a picture as PNG from RGB samples, or as JPEG from 4:2:0 planes in full range, whose chroma sides are
  /// rounded up. There are no gaps between samples or planes. `quality` is for JPEG, from 2 (best) to 31. `take`
  /// receives the coded bytes, which are valid only until it returns. Throws Error (limit, C63-PICTURE-SIZE) if the
  /// picture is too large for FFmpeg.
  virtual void encode(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
                      const std::function<void(std::span<const std::uint8_t>)>& take) const = 0;
  /// The next two functions do what keep_media_messages() and limit_media_allocations() of c63/media.h say.
  virtual void keep_messages() const = 0;
  virtual void limit_allocations(std::uint64_t bytes) const = 0;

 protected:
  ~MediaModule() = default;  // never called: a module lives as long as the process
};

/// The version that module and library must share: c63's version, and a number that is increased with every change of
/// this file.
inline std::string media_version() { return version() + ", interface 4"; }

/// The type of a module's only entry function, whose name is kMediaEntry. It sets `has` to the module's
/// media_version(). It returns null if that differs from `wanted`.
using MediaEntry = const MediaModule* (*)(const char* wanted, const char** has);
inline constexpr const char* kMediaEntry = "c63_media_module";

}  // namespace c63
