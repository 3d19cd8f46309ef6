#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/settings.h"

namespace c63 {

struct PresetDecisions;

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
  /// Sizes below those of the lowest quality may be met with fewer coded frames: CodingSettings::frame_interval grows.
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
};

/// One pass: its quality, its scale of λ, and its result.
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
/// On logarithmic scales, bits and squared error are nearly straight lines over the quality, so three to five passes are
/// enough. Flat tables have few steps. Between two steps, only λ changes.
///
/// If the lowest quality takes more than a size, every second, third, … frame is coded, and the others are repeats: as many as
/// needed. Twice, four times as many repeats, with better pictures between them, are taken if they make PSNR of luma higher. In
/// that, a repeat is compared with the frame that it replaces. A size that key frames and repeats exceed is told after two passes.
class TargetSearch {
 public:
  /// Begins at the quality of `settings`. `known` are earlier passes with the same settings but other qualities; those
  /// without the target's figure are ignored. Throws Error (usage, C63-TARGET) for a target that no stream can meet. Throws
  /// Error (limit, C63-TARGET-LIMIT) if the known passes show that even the lowest quality exceeds the size.
  TargetSearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known = {});

  /// The settings of the next pass: the given ones with another quality. adaptive_reference is false if the preset alternates
  /// references (good).
  [[nodiscard]] CodingSettings next() const;
  /// Takes the result of a pass. Returns true if this pass is the final stream. If a known pass now has another result, the
  /// known passes are of another encode; they are dropped, and the search goes on. A quality that the format cannot reach is
  /// met as nearly as possible. Throws Error (limit, C63-TARGET-LIMIT) if the least stream exceeds the size, and
  /// (usage, C63-TARGET) if the target's figure was not measured.
  bool add(const PassFigures& figures);

  /// The distance of the last pass from the target: for a size as a share of it, otherwise in dB; negative below the target.
  [[nodiscard]] double distance() const;
  /// Returns true if the last pass keeps what Target::Kind promises. If the final stream does not, the content prevents it.
  [[nodiscard]] bool met() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return history_; }

 private:
  /// A pass as a point of the curve that is searched: distance from the target over quality.
  struct Point {
    double place = 0;  ///< log2 of the qp whose λ is the pass's λ
    double error = 0;  ///< log2 of the share of a size, or dB; negative below the target
    int step = 0;      ///< the step of its tables; 0 if tables do not matter
  };
  /// The next place to try; empty if no further pass can help.
  [[nodiscard]] std::optional<double> next_place() const;
  [[nodiscard]] static std::optional<double> bent_place(const std::vector<Point>& points, double error, const Point& a,
                                                        const Point& b);
  [[nodiscard]] Point point_of(const TargetPass& pass) const;
  /// The figure that the target is about; empty if it was not measured.
  [[nodiscard]] std::optional<double> figure_of(const PassFigures& figures) const;
  [[nodiscard]] double error_of(const PassFigures& figures) const;
  [[nodiscard]] bool is_met(const PassFigures& figures) const;
  [[nodiscard]] bool is_size() const { return target_.kind == Target::Kind::bytes || target_.kind == Target::Kind::bitrate; }
  [[nodiscard]] int step_of(double qp) const;
  /// The places of the lowest and of the highest quality.
  [[nodiscard]] std::pair<double, double> ends() const;
  /// Makes the pass at this place the next one.
  void go_to(double place);
  void go_to(TargetPass pass);
  [[nodiscard]] PresetDecisions decisions_of(double qp, double lambda_scale) const;
  [[nodiscard]] const TargetPass* made_before() const;
  void leave_known(double place);
  void plan_next();
  [[nodiscard]] const TargetPass* best() const;
  [[nodiscard]] bool may_drop() const { return is_size() && target_.may_drop_frames; }
  /// The longest interval that makes a difference.
  [[nodiscard]] int longest_interval() const;
  void use_interval(int interval);
  /// The shortest interval with which the lowest quality probably keeps the size. It is longer than `above`, with which that was
  /// measured, as it was with the longest interval.
  [[nodiscard]] int estimated_interval(int above) const;
  /// The pass with the lowest quality and an interval, or null if there is none.
  [[nodiscard]] const TargetPass* pass_at_end(int interval) const;
  [[nodiscard]] bool drop_frames();
  void finish(const TargetPass& pass);
  [[noreturn]] void refuse() const;

  CodingSettings settings_;
  Target target_;
  bool has_lambda_;
  std::vector<TargetPass> history_;  ///< all passes
  std::vector<TargetPass> passes_;   ///< those with this interval
  int interval_ = 1;                 ///< of coded frames, in the next pass
  std::optional<TargetPass> kept_;   ///< the best pass with longer intervals than the settings'
  std::size_t known_ = 0;  ///< how many of passes_ were made before this search
  std::size_t made_ = 0;   ///< passes that add() took
  int locked_step_ = 0;  ///< the step of the tables that the search keeps; 0: any
  double qp_ = 0;        ///< of the next pass
  double scale_ = 1;
  bool probes_ = false;  ///< the next pass only tells what key frames and repeats take
  bool last_ = false;  ///< the next pass is the final stream, whatever its result
};

/// Returns the target in words: "a bit rate of 800 kb/s", "a size of 2097152 bytes", "PSNR Y of 38 dB", …
[[nodiscard]] std::string describe(const Target& target);

}  // namespace c63
