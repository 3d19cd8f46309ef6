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
};

/// Finds the one quality with which a video meets a target. Each pass over the video is an encode with the settings of
/// next(). The search ends when a pass is the final stream:
///
///   TargetSearch search(settings, target);
///   do encode with search.next(); while (!search.add(figures));
///
/// On logarithmic scales, bits and squared error are nearly straight lines over the quality, so three to five passes
/// are enough. All entries of a flat table are the same multiple of four, so a small change of quality often leaves the
/// tables as they are and changes only λ.
class TargetSearch {
 public:
  /// Begins at the quality of `settings`. `known` are earlier passes with the same settings but other qualities. A
  /// known pass is ignored if it did not measure the size, PSNR or SSIM that `target` is about. Throws Error (usage,
  /// C63-TARGET) for a target that no stream can meet. Throws Error (limit, C63-TARGET-LIMIT) if the known passes show
  /// that even the lowest quality exceeds the size.
  TargetSearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known = {});

  /// Returns the settings of the next pass: those of the constructor, with another qp and lambda_scale.
  /// adaptive_reference is false if the preset alternates references (good).
  [[nodiscard]] CodingSettings next() const;
  /// Takes the result of a pass. Returns true if this pass is the final stream. If the pass repeats a known pass with
  /// another result, the known passes belong to another encode: they are dropped, and the search continues. If the
  /// format cannot reach the target's quality, the search comes as near as possible. Throws Error (limit,
  /// C63-TARGET-LIMIT) if even the lowest quality exceeds the size, and (usage, C63-TARGET) if the pass did not measure
  /// what the target is about.
  bool add(const PassFigures& figures);

  /// Returns the distance of the last pass from the target, negative below the target. For bytes and bit rates, it is a
  /// share of the target (0.01 is 1 % too much). For PSNR and SSIM, it is in dB.
  [[nodiscard]] double distance() const;
  /// Returns true if the last pass is within the tolerance of its Target::Kind. If the final stream is not, the content
  /// prevents it.
  [[nodiscard]] bool met() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }

 private:
  /// A pass as a point of a curve: `place` is its x, and `error` is its y.
  struct Point {
    double place = 0;  ///< log2 of the qp whose λ, with the settings' lambda_scale, is the pass's λ
    double error = 0;  ///< log2 of size / target, or the difference in dB; negative below the target
    int step = 0;      ///< the entry of its tables if the preset's tables are flat; otherwise 0
  };
  /// Returns the place of the next pass; empty if no further pass can help.
  [[nodiscard]] std::optional<double> next_place() const;
  [[nodiscard]] static std::optional<double> bent_place(const std::vector<Point>& points, double error, const Point& a,
                                                        const Point& b);
  [[nodiscard]] Point point_of(const TargetPass& pass) const;
  /// Returns the size, PSNR or SSIM that the target is about; empty if it was not measured.
  [[nodiscard]] std::optional<double> figure_of(const PassFigures& figures) const;
  [[nodiscard]] double error_of(const PassFigures& figures) const;
  [[nodiscard]] bool is_met(const PassFigures& figures) const;
  [[nodiscard]] bool is_size() const { return target_.kind == Target::Kind::bytes || target_.kind == Target::Kind::bitrate; }
  [[nodiscard]] int step_of(double qp) const;
  /// Returns the places of the lowest and the highest quality.
  [[nodiscard]] std::pair<double, double> ends() const;
  /// Sets qp_ and scale_, with which the next pass is encoded, from a place.
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
  std::size_t known_ = 0;  ///< number of passes_ that were made before this search, until they are dropped
  std::size_t made_ = 0;   ///< passes that add() took
  bool starts_anew_ = false;  ///< the search begins again: the next pass replaces all passes_
  int locked_step_ = 0;  ///< if not 0, only qualities with this Point::step are tried
  double qp_ = 0;        ///< qp of the next pass
  double scale_ = 1;
  bool last_ = false;  ///< the next pass is the final stream, whatever its result
};

/// Returns the target in words: "a bit rate of 800 kb/s", "a size of 2MiB", "PSNR Y of 38 dB", …
[[nodiscard]] std::string describe(const Target& target);

}  // namespace c63
