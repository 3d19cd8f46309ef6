#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/settings.h"

namespace c63 {

struct PresetDecisions;

/// What a stream is to take, or how good it is to be.
struct Target {
  enum class Kind {
    bytes,     ///< of the whole stream; never more, within 1 % below where the content allows
    bitrate,   ///< bits per second, likewise
    psnr_y,    ///< dB of luma, within 0.05
    psnr_all,  ///< dB of all planes, likewise
    ssim_y,    ///< below 1; within 0.05 dB of -10·log10(1 - SSIM)
  };
  Kind kind = Kind::bytes;
  double value = 0;
};

/// What an encode of the whole video came to. A quality that was not measured is not set.
struct PassFigures {
  std::int64_t frames = 0;
  std::uint64_t bytes = 0;
  double frames_per_s = 25;  ///< of the video
  std::optional<double> psnr_y_db = {};
  std::optional<double> psnr_all_db = {};
  std::optional<double> ssim_y = {};
};

/// One pass: quality and the scale of λ that it had, and what came of it.
struct TargetPass {
  double qp = 0;
  double lambda_scale = 1;
  PassFigures figures = {};
};

/// Finds the one quality with which a video meets a target. Each pass over the video is an encode with the settings of next(),
/// until one is the stream:
///
///   TargetSearch search(settings, target);
///   do encode with search.next(); while (!search.add(figures));
///
/// Bits and squared error are nearly straight lines over the quality on logarithmic scales, so three to five passes will do.
/// Between the few steps that flat tables have, λ alone is varied.
class TargetSearch {
 public:
  /// Begins at the quality of `settings`, or with passes that were made before with the same settings but quality. Those
  /// that lack the target's figure are not used. Throws Error: usage, C63-TARGET, for a target that no stream can meet;
  /// limit, C63-TARGET-LIMIT, if the known passes already show that even the lowest quality takes more than a size.
  TargetSearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known = {});

  /// The settings of the next pass: those given with another quality, and with adaptive_reference false where the preset has
  /// references that alternate (good).
  [[nodiscard]] CodingSettings next() const;
  /// Takes what became of it; true: it is the stream. A pass that was known and now comes to something else shows that what
  /// is known is of another encode: that is dropped, and the search goes on. A quality that the format does not reach is met
  /// as nearly as it can be. Throws Error: limit, C63-TARGET-LIMIT, if even the lowest quality takes more than a size; usage,
  /// C63-TARGET, if the target's figure was not measured.
  bool add(const PassFigures& figures);

  /// How far the pass added last is from the target: of a size as a share of it, else in dB; negative below it.
  [[nodiscard]] double distance() const;
  /// Whether it keeps what Target::Kind promises. Where it does not and is the stream, the content does not allow it.
  [[nodiscard]] bool met() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }

 private:
  /// A pass on the line that is searched: how far it is from the target, as a function of its place.
  struct Point {
    double place = 0;  ///< log2 of the qp that has its λ
    double error = 0;  ///< log2 of the share of a size, or dB; negative below the target
    int step = 0;      ///< of its tables; 0 where they do not matter
  };
  /// Where to look next; nothing where all passes that could help have been made.
  [[nodiscard]] std::optional<double> next_place() const;
  [[nodiscard]] static std::optional<double> bent_place(const std::vector<Point>& points, double error, const Point& a,
                                                        const Point& b);
  [[nodiscard]] Point point_of(const TargetPass& pass) const;
  /// The figure that the target is about, or nothing if it was not measured.
  [[nodiscard]] std::optional<double> figure_of(const PassFigures& figures) const;
  [[nodiscard]] double error_of(const PassFigures& figures) const;
  [[nodiscard]] bool is_met(const PassFigures& figures) const;
  [[nodiscard]] bool is_size() const { return target_.kind == Target::Kind::bytes || target_.kind == Target::Kind::bitrate; }
  [[nodiscard]] int step_of(double qp) const;
  /// Places of the lowest and of the highest quality.
  [[nodiscard]] std::pair<double, double> ends() const;
  /// Plans the pass at a place.
  void go_to(double place);
  void go_to(const TargetPass& pass);
  [[nodiscard]] PresetDecisions decisions_of(double qp, double lambda_scale) const;
  [[nodiscard]] const TargetPass* made_before() const;
  void leave_known(double place);
  void plan_next();
  [[nodiscard]] const TargetPass* best() const;

  CodingSettings settings_;
  Target target_;
  bool has_lambda_;
  std::vector<TargetPass> passes_;
  std::size_t known_ = 0;  ///< how many of them were made before
  std::size_t made_ = 0;   ///< passes that add() took
  int locked_step_ = 0;  ///< the tables that the search stays with; 0: any
  double qp_ = 0;        ///< of the next pass
  double scale_ = 1;
  bool last_ = false;  ///< the next pass is the stream, whatever comes of it
};

/// "a bit rate of 800 kb/s", "a size of 2097152 bytes", "PSNR Y of 38 dB", …
[[nodiscard]] std::string describe(const Target& target);

}  // namespace c63
