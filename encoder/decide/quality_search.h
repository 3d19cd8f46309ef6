#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "c63/settings.h"
#include "c63/target.h"

namespace c63 {

struct PresetDecisions;

/// Returns the figure that a target is about: a size, a bit rate, PSNR or SSIM. Empty if it was not measured.
[[nodiscard]] std::optional<double> target_figure(const Target& target, const PassFigures& figures);
/// Returns the distance of a pass from the target; negative below the target. For sizes and rates it is in octaves,
/// log2(figure / target); for qualities it is in dB.
[[nodiscard]] double target_error(const Target& target, const PassFigures& figures);
[[nodiscard]] bool is_target_met(const Target& target, const PassFigures& figures);
[[nodiscard]] constexpr bool is_of_size(const Target& target) {
  return target.kind == Target::Kind::bytes || target.kind == Target::Kind::bitrate;
}

/// Finds the quality with which a video meets a target, as TargetSearch does. CodingSettings::frame_interval does not
/// change during the search.
class QualitySearch {
 public:
  /// After this many passes, the search tries no new quality. Known passes do not count.
  static constexpr std::size_t kMostPasses = 16;

  /// `settings` and `known` have the same meaning as for TargetSearch. All known passes have the frame_interval of
  /// `settings`.
  QualitySearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known);

  /// Begins the search with the quality that probably takes `octaves` octaves more bits than `pass`. Does nothing if
  /// passes are known.
  void begin_above(const TargetPass& pass, double octaves);
  /// Begins the search with the lowest quality. Does nothing if passes are known.
  void begin_with_lowest();

  [[nodiscard]] CodingSettings next() const;
  /// Takes the result of a pass. Returns true if the search is over and this pass is the best.
  bool add(const PassFigures& figures);

  /// Returns true if the search is over because every pass exceeds the size. The last of them usually has the lowest
  /// quality.
  [[nodiscard]] bool is_out_of_reach() const { return is_out_of_reach_; }
  /// Returns true if the next pass has the lowest quality.
  [[nodiscard]] bool is_next_the_lowest() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }

 private:
  /// A pass as a point of the curve that is searched: its distance from the target, over its quality.
  struct Point {
    double place = 0;  ///< log2 of the qp whose λ is the pass's λ
    double error = 0;  ///< target_error()
    int step = 0;      ///< the step of its tables; 0 if tables do not matter
  };
  /// Returns the place of the next pass; empty if no further pass can help.
  [[nodiscard]] std::optional<double> next_place() const;
  [[nodiscard]] static std::optional<double> bent_place(const std::vector<Point>& points, double error, const Point& a,
                                                        const Point& b);
  [[nodiscard]] Point point_of(const TargetPass& pass) const;
  [[nodiscard]] double error_of(const PassFigures& figures) const { return target_error(target_, figures); }
  [[nodiscard]] bool is_size() const { return is_of_size(target_); }
  [[nodiscard]] int step_of(double qp) const;
  /// Returns the places of the lowest and of the highest quality.
  [[nodiscard]] std::pair<double, double> ends() const;
  /// Sets the quality of the next pass: that of this place, or that of an earlier pass.
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
  std::size_t known_ = 0;  ///< how many of passes_ were made before this search
  std::size_t made_ = 0;   ///< passes that add() took
  bool starts_anew_ = false;  ///< the next pass begins a new search, which forgets all earlier passes
  int locked_step_ = 0;  ///< the step of the tables that the search keeps; 0: any
  double qp_ = 0;        ///< of the next pass
  double scale_ = 1;
  bool last_ = false;  ///< the next pass is the final one, whatever its result
  bool is_out_of_reach_ = false;
};

}  // namespace c63
