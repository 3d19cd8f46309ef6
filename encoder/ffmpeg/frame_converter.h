#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ffmpeg/av_watch.h"
#include "io/copy_padded.h"

namespace c63 {

/// Converts pictures to 8-bit 4:2:0 with FFmpeg's swscale, as `ffmpeg -pix_fmt yuv420p` does. Odd sides are padded to
/// even ones by repeating the last column and row. Only one thread at a time may use it.
class FrameConverter {
 public:
  /// `pixel_format` is FFmpeg's AVPixelFormat, `range` its AVColorRange. A conversion of the layout also converts samples
  /// of full range (0 to 255) to video range; samples that are 4:2:0 already stay as they are. `watch` must outlive this
  /// object. Throws Error (input, C63-AV-PIXEL-FORMAT) if the format cannot be converted.
  FrameConverter(AvWatch& watch, int pixel_format, int width, int height, int range);
  ~FrameConverter();
  FrameConverter(const FrameConverter&) = delete;
  FrameConverter& operator=(const FrameConverter&) = delete;

  /// Returns true if the conversion changes the values of samples, and not only their places in memory.
  [[nodiscard]] bool changes_samples() const;
  /// Returns true if converted samples use the values 0 to 255.
  [[nodiscard]] bool keeps_full_range() const;
  [[nodiscard]] bool is_for(int pixel_format, int range) const;

  /// Converts `planes` with `pitches`, as in an AVFrame, to `frame`, which has frame_bytes() of the padded size. With
  /// `luma_only`, the chroma samples of `frame` stay as they are.
  void convert(const std::uint8_t* const* planes, const int* pitches, std::span<std::uint8_t> frame,
               bool luma_only = false);

 private:
  struct State;
  AvWatch& watch_;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string pixel_format_name(int pixel_format);

}  // namespace c63
