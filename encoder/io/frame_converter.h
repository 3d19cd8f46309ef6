#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "c63/picture.h"

namespace c63 {

/// Converts pictures of other layouts to 8-bit 4:2:0 by FFmpeg's swscale, as `ffmpeg -pix_fmt yuv420p` does. Odd sides
/// are padded to even ones by repeating the last column and row. Not for several threads at once.
class FrameConverter {
 public:
  /// `pixel_format` is FFmpeg's AVPixelFormat. `full_range` says that samples marked so go from 0 to 255.
  /// Throws Error (input, C63-AV-PIXEL-FORMAT) for what cannot be converted.
  FrameConverter(int pixel_format, int width, int height, bool full_range);
  ~FrameConverter();
  FrameConverter(const FrameConverter&) = delete;
  FrameConverter& operator=(const FrameConverter&) = delete;

  /// True where samples change, not only their place.
  [[nodiscard]] bool changes_samples() const;
  [[nodiscard]] bool is_for(int pixel_format, int width, int height, bool full_range) const;

  /// `planes` and `pitches` as in an AVFrame; `frame` takes frame_bytes of the padded size.
  void convert(const std::uint8_t* const* planes, const int* pitches, std::span<std::uint8_t> frame);
  /// The same for planes that lie one after another without gaps, packed_bytes() in all.
  void convert_packed(std::span<const std::uint8_t> picture, std::span<std::uint8_t> frame);
  [[nodiscard]] std::size_t packed_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// FFmpeg's number for the layout with that name ("yuv422p10le"); -1 where it has none.
[[nodiscard]] int pixel_format_from(const std::string& name);
[[nodiscard]] std::string pixel_format_name(int pixel_format);

/// The next even number.
[[nodiscard]] constexpr int even_side(int side) { return side + side % 2; }

/// Copies a picture of `width` x `height` with rounded-up chroma into the linear layout of the even size.
void copy_padded(const std::uint8_t* const* planes, const int* pitches, int width, int height,
                 std::span<std::uint8_t> frame);

}  // namespace c63
