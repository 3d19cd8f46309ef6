#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/quality.h"

namespace c63::tools {

/// How one frame differs from its reference.
struct FrameQuality {
  std::array<std::uint64_t, 3> sse{};
  std::array<double, 3> ssim{};  ///< NaN for planes without an 8x8 window
  bool identical = false;
};

/// The first sample in which two videos differ. x and y are -1 in chroma if a side is odd: its rows then differ in length.
struct FirstDifference {
  std::int64_t frame = 0;
  int plane = 0;
  int x = 0;
  int y = 0;
  int reference = 0;
  int value = 0;
};

/// "frame 3, plane U, x 17, y 4: 128 instead of 127"
[[nodiscard]] std::string to_string(const FirstDifference& difference);

/// How one video differs from its reference. Means over frames are those of FFmpeg's psnr and ssim filters: PSNR of the
/// summed squared error, SSIM as the mean over frames.
struct VideoQuality {
  VideoFormat format;
  std::array<std::uint64_t, 3> samples{};  ///< of each plane of a frame
  std::int64_t frame_count = 0;
  std::vector<FrameQuality> frames;  ///< if MetricOptions::keep_frames asks for them
  double lowest_psnr = 0;            ///< of all planes of a frame
  std::int64_t lowest_at = 0;
  QualityTotals totals;
  std::optional<FirstDifference> first_difference;
  std::int64_t different_frames = 0;

  /// PSNR of one frame; plane 3 is all planes together.
  [[nodiscard]] double psnr_of(const FrameQuality& frame, int plane) const;
  /// SSIM of one frame over all planes, weighted by their sizes.
  [[nodiscard]] double ssim_of_all(const FrameQuality& frame) const;
  /// The same for the whole video.
  [[nodiscard]] double ssim_of_all() const;
  [[nodiscard]] double psnr_of_video(int plane) const;
};

/// SSIM in dB, as FFmpeg prints it.
[[nodiscard]] double ssim_db(double ssim);

/// Gets every pair of frames: index, how they differ, reference, other. The video's format and samples are known.
using FramePairVisitor = std::function<void(std::int64_t, const FrameQuality&, const VideoQuality&, std::span<const std::uint8_t>,
                                            std::span<const std::uint8_t>)>;

struct MetricOptions {
  bool ssim = true;
  bool stop_at_difference = false;
  bool keep_frames = true;  ///< 56 bytes each
};

/// Compares frame by frame, by index. Throws Error (comparison): C63-CMP-SIZE for different picture sizes,
/// C63-CMP-COUNT for different numbers of frames. Throws Error (input) if there is no frame.
[[nodiscard]] VideoQuality compare_videos(FrameSource& reference, const std::string& reference_name, FrameSource& other,
                                          const std::string& other_name, const MetricOptions& options = {},
                                          const FramePairVisitor& visit = {}, const std::stop_token& stop = {});

}  // namespace c63::tools
