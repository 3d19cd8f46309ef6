#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "c63/encoder.h"
#include "c63/quality.h"

namespace c63::tools {

/// How a frame differs from the frame with the same number in the reference video.
struct FrameQuality {
  std::array<std::uint64_t, 3> sse{};
  std::array<double, 3> ssim{};  ///< NaN for planes smaller than the 8x8 window, or if SSIM is not measured
  bool identical = false;
};

/// The first sample in which two videos differ. If a side of the picture is odd, x and y are -1 for chroma, whose rows
/// then have no fixed length.
struct FirstDifference {
  std::int64_t frame = 0;
  int plane = 0;
  int x = 0;
  int y = 0;
  int reference = 0;
  int value = 0;
};

/// Returns text such as "frame 3, plane U, x 17, y 4: 128 instead of 127".
[[nodiscard]] std::string to_string(const FirstDifference& difference);

/// How a video differs from its reference. PSNR is from the squared error summed over all frames, SSIM is the mean over
/// frames, as in FFmpeg's psnr and ssim filters.
struct VideoQuality {
  VideoFormat format;
  std::array<std::uint64_t, 3> samples{};  ///< number of samples in each plane of a frame
  std::int64_t frame_count = 0;
  std::vector<FrameQuality> frames;  ///< filled only with MetricOptions::keep_frames
  double lowest_psnr = 0;            ///< lowest PSNR of any frame, all planes together
  std::int64_t lowest_at = 0;
  QualityTotals totals;
  std::optional<FirstDifference> first_difference;
  std::int64_t different_frames = 0;

  /// Returns the PSNR of a plane of one frame; plane 3 means all planes together.
  [[nodiscard]] double psnr_of(const FrameQuality& frame, int plane) const;
  /// Returns the SSIM of one frame: the mean over its planes, weighted by their sizes.
  [[nodiscard]] double ssim_of_all(const FrameQuality& frame) const;
  /// Returns the SSIM of the whole video over all planes, weighted by their sizes.
  [[nodiscard]] double ssim_of_all() const;
  [[nodiscard]] double psnr_of_video(int plane) const;
};

/// Figures of quality, by the names that CSV and JSON give them.
using Figures = std::vector<std::pair<const char*, double>>;
/// Returns PSNR and SSIM of each plane and of all planes: of one frame, or of the video. SSIM is NaN where it is not known.
[[nodiscard]] Figures figures_of(const VideoQuality& video, const FrameQuality& frame);
[[nodiscard]] Figures figures_of(const VideoQuality& video);
/// Returns figures as an object. Infinite and missing ones are null.
[[nodiscard]] nlohmann::ordered_json figures_json(const Figures& figures);

/// SSIM in dB, as FFmpeg prints it.
[[nodiscard]] double ssim_db(double ssim);

/// Called for each pair of frames with: index, how the frames differ, the video's result so far, the frame of the
/// reference, the other frame. `format` and `samples` of the result are set before the first call.
using FramePairVisitor = std::function<void(std::int64_t, const FrameQuality&, const VideoQuality&, std::span<const std::uint8_t>,
                                            std::span<const std::uint8_t>)>;

struct MetricOptions {
  bool ssim = true;
  bool stop_at_difference = false;
  bool keep_frames = true;  ///< takes 56 bytes per frame
};

/// Compares frames of the same index. Throws Error (comparison): C63-CMP-SIZE for different picture sizes,
/// C63-CMP-COUNT for different numbers of frames. Throws Error (input) if there are no frames.
[[nodiscard]] VideoQuality compare_videos(FrameSource& reference, const std::string& reference_name, FrameSource& other,
                                          const std::string& other_name, const MetricOptions& options = {},
                                          const FramePairVisitor& visit = {}, const std::stop_token& stop = {});

}  // namespace c63::tools
