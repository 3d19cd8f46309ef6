#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "c63/decoder.h"
#include "c63/frame_source.h"
#include "c63/version.h"

// The interface between the library and a media module. A module is a shared library of c63. It is opened when it is
// needed, because its dependencies take long to load or may be missing. A module shares no state with the library: it
// is given everything that it needs, and throws Error. Module and library must have the same version.

namespace c63 {

/// Throws Error (usage, limit) if pictures of this size cannot be coded or exceed the limits.
using CheckSize = std::function<void(int width, int height)>;

enum class PictureCode { png, jpeg };

/// The functions of a module.
struct MediaModule {
  /// Opens a container. With a filled options.seek_table, the source skips frames. Throws Error.
  std::unique_ptr<FrameSource> (*open)(std::unique_ptr<ByteSource> bytes, const SourceOptions& options,
                                       const CheckSize& check_size);
  /// Encodes a picture as PNG from RGB samples, or as JPEG from 4:2:0 planes in full range, whose chroma sides are
  /// rounded up. There are no gaps between samples or planes. `quality` is for JPEG, from 2 (best) to 31. `take`
  /// receives the coded bytes, which are valid only until it returns. Throws Error (limit, C63-PICTURE-SIZE) if the
  /// picture is too large for FFmpeg, and Error (usage, C63-NO-PNG) if this FFmpeg has no encoder for `code`.
  void (*encode)(PictureCode code, std::span<const std::uint8_t> samples, int width, int height, int quality,
                 const std::function<void(std::span<const std::uint8_t>)>& take);
  /// The next two functions do what keep_media_messages() and limit_media_allocations() of c63/media.h say.
  void (*keep_messages)();
  void (*limit_allocations)(std::uint64_t bytes);
};

/// The version that module and library must share: c63's version, and a number that is increased with every change of
/// this file.
inline std::string media_version() { return version() + ", interface 6"; }

/// The type of a module's only entry function, whose name is kMediaEntry. It sets `has` to the module's
/// media_version(). It returns null if that differs from `wanted`.
using MediaEntry = const MediaModule* (*)(const char* wanted, const char** has);
inline constexpr const char* kMediaEntry = "c63_media_module";

/// Returns the module for FFmpeg. The first call loads it from `folder`, or if that is empty, from where c63 is
/// installed or was built. Throws Error (input, C63-NO-FFMPEG) if the module or a library that it needs is missing, or
/// if its version differs. Any number of threads may call it at once.
[[nodiscard]] const MediaModule& ffmpeg_module(const std::string& folder = {});

}  // namespace c63
