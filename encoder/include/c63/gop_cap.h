#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "c63/encoder.h"
#include "c63/settings.h"
#include "c63/target.h"

namespace c63 {

/// The size of one GOP in one pass.
struct GopFigures {
  std::int64_t first_frame = 0;
  std::int64_t frames = 0;
  std::uint64_t bytes = 0;
};

/// The quality that a GOP is coded with.
struct GopQuality {
  double qp = 0;
  double lambda_scale = 1;
  friend bool operator==(const GopQuality&, const GopQuality&) = default;
};

/// The settings of one pass over a video. `gops` has the GOPs whose quality is not that of `settings`; the keys are
/// their first frames.
struct CappedPass {
  CodingSettings settings;
  std::map<std::int64_t, GopQuality> gops;
};

/// Returns planners for Encoder::set_planner(). They make the plans of the settings' preset, but with each GOP's own
/// quality.
[[nodiscard]] PlannerFactory planner_of(const CappedPass& pass);

/// Finds qualities with which a video meets a bit rate and no GOP exceeds a cap. The cap of a GOP is `cap` times the
/// bytes that the rate gives for the GOP's duration. All GOPs have the same quality, except those that would exceed the
/// cap: each of them gets its own, lower quality. Use it like TargetSearch, but set planner_of(next()) for each pass,
/// and give add() the size of each GOP. A GOP's size must depend only on its own quality.
class CappedSearch {
 public:
  /// Throws Error (usage): C63-TARGET for a rate that no stream can have, C63-GOP-CAP for a cap below 1.
  CappedSearch(const CodingSettings& settings, double bits_per_s, double cap);

  [[nodiscard]] const CappedPass& next() const { return next_; }
  /// Takes the result of a pass. Returns true if this pass is the final stream. Throws Error (limit) if even the lowest
  /// quality is too large: C63-TARGET-LIMIT if it exceeds the rate, C63-GOP-CAP if a GOP exceeds the cap.
  /// C63-TARGET-LIMIT also means that no pass kept the rate and the search gave up.
  bool add(const PassFigures& figures, std::span<const GopFigures> gops);

  /// The distance of the last pass from the rate, as a share of the rate; negative below the rate.
  [[nodiscard]] double distance() const;
  /// Returns true if the last pass meets the rate within the tolerance of Target::Kind::bitrate, and no GOP exceeds its
  /// cap.
  [[nodiscard]] bool met() const;
  /// All passes. The quality of a pass is that of the GOPs without a quality of their own.
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }
  /// The number of GOPs above the cap in the last pass.
  [[nodiscard]] int over() const { return over_; }

 private:
  struct Gop {
    std::int64_t first_frame = 0;
    std::int64_t frames = 0;
    std::uint64_t most_bytes = 0;
    std::vector<TargetPass> samples;  ///< the GOP's size with each quality that was measured
  };
  /// A GOP's quality in a pass, and its size.
  struct Choice {
    GopQuality quality;
    bool has_own = false;  ///< the quality is not that of the whole video
    bool is_known = false; ///< `bytes` was measured, and no better quality is left to try
    std::uint64_t bytes = 0;
  };

  static constexpr std::size_t kMostPasses = 40;
  /// Returns true if more passes may try new qualities. After kMostPasses passes, only qualities that were measured are
  /// used.
  [[nodiscard]] bool may_try() const { return passes_.size() < kMostPasses; }
  [[nodiscard]] double place_of(const TargetPass& pass) const;
  [[nodiscard]] bool is_over(const Gop& gop, GopQuality quality) const;
  [[nodiscard]] Choice own_choice(const Gop& gop) const;
  [[nodiscard]] Choice choice(const Gop& gop, GopQuality of_video) const;
  [[nodiscard]] double rate_error(std::uint64_t bytes) const;
  void plan();
  void plan_pass(GopQuality of_video, bool is_last);

  CodingSettings settings_;
  Target target_;
  double cap_;
  CappedPass next_;
  std::vector<TargetPass> passes_;
  std::vector<Gop> gops_;
  int over_ = 0;
  bool last_ = false;  ///< the next pass gives the final stream
};

}  // namespace c63
