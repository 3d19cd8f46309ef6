#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "c63/encoder.h"
#include "c63/settings.h"
#include "c63/target.h"

namespace c63 {

/// The size of one GOP in a pass.
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

/// What a pass over a video is encoded with: the settings, and GOPs with another quality, by their first frames.
struct CappedPass {
  CodingSettings settings;
  std::map<std::int64_t, GopQuality> gops;
};

/// Returns planners for Encoder::set_planner(): the plans of the settings' preset, with each GOP's quality.
[[nodiscard]] PlannerFactory planner_of(const CappedPass& pass);

/// Finds qualities that meet a bit rate under a cap for each GOP. The cap is a multiple of what the rate gives for the GOP's
/// duration. The whole video has one quality, and each GOP above the cap has another. Use it like TargetSearch, but set
/// planner_of(next()) and add the size of each GOP. A GOP's size depends on its own quality alone.
class CappedSearch {
 public:
  /// Throws Error (usage): C63-TARGET for a rate that no stream can have, C63-GOP-CAP for a cap below 1.
  CappedSearch(const CodingSettings& settings, double bits_per_s, double cap);

  [[nodiscard]] const CappedPass& next() const { return next_; }
  /// Takes the result of a pass. Returns true if this pass is the final stream. Throws Error (limit) if even the lowest
  /// quality is too large: C63-TARGET-LIMIT if it exceeds the rate, C63-GOP-CAP if a GOP exceeds the cap.
  bool add(const PassFigures& figures, std::span<const GopFigures> gops);

  /// The distance of the last pass from the rate, as a share of the rate.
  [[nodiscard]] double distance() const;
  /// Returns true if the last pass keeps what Target::Kind promises.
  [[nodiscard]] bool met() const;
  /// All passes, with the whole video's quality.
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }
  /// The number of GOPs above the cap in the last pass.
  [[nodiscard]] int over() const { return over_; }

 private:
  struct Gop {
    std::int64_t first_frame = 0;
    std::int64_t frames = 0;
    std::uint64_t most_bytes = 0;
    std::vector<TargetPass> samples;  ///< each quality once
  };
  /// A GOP's quality in a pass, and its size.
  struct Choice {
    GopQuality quality;
    bool has_own = false;  ///< the quality is not the whole video's
    bool is_known = false; ///< `bytes` was measured, and no better quality is left to try
    std::uint64_t bytes = 0;
  };

  static constexpr std::size_t kMostPasses = 40;
  /// Returns true while untried qualities may be tried. After that, only known ones are used.
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
  bool last_ = false;  ///< the next pass is the stream
};

}  // namespace c63
