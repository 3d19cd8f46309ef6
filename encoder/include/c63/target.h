#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c63/settings.h"

namespace c63 {

class QualitySearch;

/// The size or the quality that a stream is to have.
struct Target {
  enum class Kind {
    bytes,     ///< of the whole stream; never more, and less than 1 % below if the content allows it
    bitrate,   ///< bits per second, with the same tolerance
    psnr_y,    ///< dB of luma, within 0.05
    psnr_all,  ///< dB of all planes, within 0.05
    ssim_y,    ///< below 1; within 0.05 dB of -10·log10(1 - SSIM)
  };
  Kind kind = Kind::bytes;
  double value = 0;
  /// If even the lowest quality exceeds a size, the search may code fewer frames: CodingSettings::frame_interval grows.
  bool may_drop_frames = true;
};

/// The result of one encode of the whole video. A quality that was not measured is not set.
struct PassFigures {
  std::int64_t frames = 0;
  std::uint64_t bytes = 0;
  double frames_per_s = 25;  ///< of the video
  std::optional<double> psnr_y_db = {};
  std::optional<double> psnr_all_db = {};
  std::optional<double> ssim_y = {};
  std::optional<std::uint64_t> key_bytes = {};  ///< of all key frames
};

/// One pass: its quality, its scale of λ, its interval of coded frames, and its result.
struct TargetPass {
  double qp = 0;
  double lambda_scale = 1;
  PassFigures figures = {};
  int frame_interval = 1;
};

/// Finds the one quality with which a video meets a target. Each pass over the video is an encode with the settings of
/// next(). The search ends when a pass is the final stream:
///
///   TargetSearch search(settings, target);
///   do encode with search.next(); while (!search.add(figures));
///
/// On logarithmic scales, bits and squared error are nearly straight lines over the quality, so three to five passes
/// are enough. Flat tables have few steps. Between two steps, only λ changes.
///
/// If even the lowest quality exceeds a size, not all frames are coded: only every second, third, … one. The others
/// repeat the previous picture. The search begins with the smallest interval with which the size can be met. Then it
/// doubles the interval, which leaves more bits for each coded frame, as long as that makes PSNR of luma higher. For
/// this PSNR, a repeat is compared with the frame that it replaces.
class TargetSearch {
 public:
  /// Begins at the quality of `settings`. `known` are earlier passes with the same settings but other qualities. Passes
  /// in which the target's figure was not measured are ignored. Throws Error (usage, C63-TARGET) for a target that no
  /// stream can meet. Throws Error (limit, C63-TARGET-LIMIT) if the known passes show that even the smallest possible
  /// stream exceeds the size.
  TargetSearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known = {});
  ~TargetSearch();
  TargetSearch(TargetSearch&& other) noexcept;
  TargetSearch& operator=(TargetSearch&& other) noexcept;

  /// The settings of the next pass: the given ones with another quality or frame_interval. If the preset alternates
  /// references (good), adaptive_reference is set to false.
  [[nodiscard]] CodingSettings next() const;
  /// Takes the result of a pass. Returns true if this pass is the final stream. If a known pass now has another result,
  /// the known passes are of another encode; they are dropped, and the search goes on. A quality that the format cannot
  /// reach is met as nearly as possible. Throws Error (limit, C63-TARGET-LIMIT) if even the smallest possible stream
  /// exceeds the size, and (usage, C63-TARGET) if the target's figure was not measured.
  bool add(const PassFigures& figures);

  /// Returns the distance of the last pass from the target, negative below the target. For bytes and bit rates, it is a
  /// share of the target (0.01 is 1 % too much). For PSNR and SSIM, it is in dB.
  [[nodiscard]] double distance() const;
  /// Returns true if the last pass is within the tolerance of its Target::Kind. If the final stream is not, the content
  /// of the video prevents it.
  [[nodiscard]] bool met() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return history_; }

 private:
  [[nodiscard]] bool may_drop() const;
  /// Returns the longest interval that makes a difference. With it, all inter frames are repeats.
  [[nodiscard]] int longest_interval() const;
  /// Returns the settings of the probe, the stream with the fewest bytes: key frames of the lowest quality, and
  /// repeats.
  [[nodiscard]] CodingSettings settings_of_probe() const;
  /// Returns the pass with the settings of the probe; null if it was not made.
  [[nodiscard]] const TargetPass* probe() const;
  /// Returns the shortest interval, longer than the present one, with which the lowest quality probably keeps the size.
  /// `least_bytes` is the size of key frames and repeats alone.
  [[nodiscard]] int estimated_interval(std::uint64_t least_bytes) const;
  void use_interval(int interval);
  void plan();
  [[noreturn]] void refuse() const;
  [[nodiscard]] bool finish();
  [[nodiscard]] bool keep();
  [[nodiscard]] bool is_hopeless() const;

  CodingSettings settings_;
  Target target_;
  std::vector<TargetPass> history_;
  std::unique_ptr<QualitySearch> search_;  ///< the search with the present interval
  int interval_ = 1;
  std::optional<TargetPass> kept_;  ///< the best pass with a longer interval than the settings'
  std::size_t made_ = 0;            ///< passes that add() took
  bool probes_ = false;             ///< the next pass is the probe: it only tells the size of the smallest stream
  bool last_ = false;               ///< the next pass is kept_ again, and gives the final stream
};

/// Returns the target in words: "a bit rate of 800 kb/s", "a size of 2MiB", "PSNR Y of 38 dB", …
[[nodiscard]] std::string describe(const Target& target);

}  // namespace c63
