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

/// What became of one GOP in a pass.
struct GopFigures {
  std::int64_t first_frame = 0;
  std::int64_t frames = 0;
  std::uint64_t bytes = 0;
};

/// What a GOP is coded with.
struct GopQuality {
  double qp = 0;
  double lambda_scale = 1;
  friend bool operator==(const GopQuality&, const GopQuality&) = default;
};

/// What a pass over a video is encoded with: settings, and GOPs that have a quality of their own, by their first frames.
struct CappedPass {
  CodingSettings settings;
  std::map<std::int64_t, GopQuality> gops;
};

/// For Encoder::set_planner(): the plans of the settings' preset, each GOP with its quality.
[[nodiscard]] PlannerFactory planner_of(const CappedPass& pass);

/// Finds the qualities with which a video meets a bit rate while no GOP takes more than `cap` times what that gives for its
/// duration: one quality for the whole video, and one for each GOP that would take more. Used like TargetSearch, with
/// planner_of(next()) set and what became of each GOP added. What a GOP takes depends on its own quality alone.
class CappedSearch {
 public:
  /// Throws Error (usage): C63-TARGET for a rate that no stream can have, C63-GOP-CAP for a cap below 1.
  CappedSearch(const CodingSettings& settings, double bits_per_s, double cap);

  [[nodiscard]] const CappedPass& next() const { return next_; }
  /// Takes what became of it; true: it is the stream. Throws Error (limit): C63-TARGET-LIMIT where even the lowest quality
  /// takes more than the rate, C63-GOP-CAP where a GOP takes more than the cap with it.
  bool add(const PassFigures& figures, std::span<const GopFigures> gops);

  /// Of the pass added last: how far it is from the rate, as a share of it, and whether it keeps what Target::Kind promises.
  [[nodiscard]] double distance() const;
  [[nodiscard]] bool met() const;
  /// Qualities of the whole video and what passes came to.
  [[nodiscard]] const std::vector<TargetPass>& passes() const { return passes_; }
  /// How many GOPs of the last pass took more than the cap.
  [[nodiscard]] int over() const { return over_; }

 private:
  struct Gop {
    std::int64_t first_frame = 0;
    std::int64_t frames = 0;
    std::uint64_t most_bytes = 0;
    std::vector<TargetPass> samples;  ///< each quality once
  };
  /// What a GOP is coded with in a pass, and what it takes.
  struct Choice {
    GopQuality quality;
    bool has_own = false;  ///< not the video's
    bool is_known = false; ///< `bytes` are not a guess, and there is nothing better
    std::uint64_t bytes = 0;
  };

  static constexpr std::size_t kMostPasses = 40;
  /// Whether qualities that were not tried may be; else what is known has to do.
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
