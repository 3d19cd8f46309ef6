#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "c63/settings.h"
#include "c63/target.h"

namespace c63 {

struct PresetDecisions;

/// The figure that a target is about; empty if it was not measured.
[[nodiscard]] std::optional<double> target_figure(const Target& target, const PassFigures& figures);
/// The distance of a measured figure from the target: log2 of the share of a size, or dB; negative below the target.
[[nodiscard]] double target_error(const Target& target, const PassFigures& figures);
[[nodiscard]] bool is_target_met(const Target& target, const PassFigures& figures);
[[nodiscard]] constexpr bool is_of_size(const Target& target) {
  return target.kind == Target::Kind::bytes || target.kind == Target::Kind::bitrate;
}

/// Finds the quality with which a video meets a target, as TargetSearch does, with one interval of coded frames.
class QualitySearch {
 public:
  /// The most passes of a search, without known ones.
  static constexpr std::size_t kMostPasses = 16;

  /// `settings` and `known` as for TargetSearch. The known passes have the settings' interval.
  QualitySearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known);

  /// Unless passes are known, begins with the quality that takes about `octaves` more bits than that of a pass.
  void begin_above(const TargetPass& pass, double octaves);
  /// Unless passes are known, begins with the lowest quality.
  void begin_with_lowest();

  [[nodiscard]] CodingSettings next() const;
  /// Takes the result of a pass. Returns true if this pass is the best.
  bool add(const PassFigures& figures);

  /// Returns true if even the lowest quality exceeds the size. The search is then over.
  [[nodiscard]] bool is_out_of_reach() const { return is_out_of_reach_; }
  /// Returns true if the next pass has the lowest quality.
  [[nodiscard]] bool is_next_the_lowest() const;
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }

 private:
  /// A pass as a point of the curve that is searched: distance from the target over quality.
  struct Point {
    double place = 0;  ///< log2 of the qp whose λ is the pass's λ
    double error = 0;  ///< target_error()
    int step = 0;      ///< the step of its tables; 0 if tables do not matter
  };
  /// The next place to try; empty if no further pass can help.
  [[nodiscard]] std::optional<double> next_place() const;
  [[nodiscard]] static std::optional<double> bent_place(const std::vector<Point>& points, double error, const Point& a,
                                                        const Point& b);
  [[nodiscard]] Point point_of(const TargetPass& pass) const;
  [[nodiscard]] double error_of(const PassFigures& figures) const { return target_error(target_, figures); }
  [[nodiscard]] bool is_size() const { return is_of_size(target_); }
  [[nodiscard]] int step_of(double qp) const;
  /// The places of the lowest and of the highest quality.
  [[nodiscard]] std::pair<double, double> ends() const;
  /// Makes the pass at this place the next one.
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
  std::size_t known_ = 0;  ///< how many of them were made before this search
  std::size_t made_ = 0;   ///< passes that add() took
  bool starts_anew_ = false;  ///< the next pass is the first of a search that knows no others
  int locked_step_ = 0;  ///< the step of the tables that the search keeps; 0: any
  double qp_ = 0;        ///< of the next pass
  double scale_ = 1;
  bool last_ = false;  ///< the next pass is the best, whatever its result
  bool is_out_of_reach_ = false;
};

}  // namespace c63
