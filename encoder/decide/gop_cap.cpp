#include "c63/gop_cap.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "c63/error.h"
#include "decide/planner.h"
#include "decide/presets.h"
#include "decide/target_place.h"

namespace c63 {
namespace {

// A GOP that would exceed its cap gets its own quality, with a size near the cap. The size is never above the cap. It
// is at least kLeastShare of the cap, if the content allows it. The search aims at kAim of the cap.
constexpr double kLeastShare = 0.95;
constexpr double kAim = 0.975;

/// Plans each GOP with the quality that the pass gives it.
class GopQualityPlanner final : public Planner {
 public:
  explicit GopQualityPlanner(std::shared_ptr<const CappedPass> pass)
      : pass_(std::move(pass)), planner_(make_planner_factory(pass_->settings)()) {}

  [[nodiscard]] int lag() const override { return planner_->lag(); }  // lag() does not depend on the quality

  [[nodiscard]] LookaheadDecisions lookahead(std::int64_t key) const override {
    return preset_decisions(settings_of_gop(key)).lookahead;
  }
  [[nodiscard]] RateDecisions rate() const override { return planner_->rate(); }
  [[nodiscard]] FramePlan plan(const FramePosition& frame) override {
    if (frame.key) planner_ = make_planner_factory(settings_of_gop(frame.index))();
    return planner_->plan(frame);
  }
  void observe(const FrameOutcome& frame) override { planner_->observe(frame); }

 private:
  [[nodiscard]] CodingSettings settings_of_gop(std::int64_t first_frame) const {
    CodingSettings settings = pass_->settings;
    if (const auto found = pass_->gops.find(first_frame); found != pass_->gops.end()) {
      settings.qp = found->second.qp;
      settings.rate.lambda_scale = found->second.lambda_scale;
    }
    return settings;
  }

  std::shared_ptr<const CappedPass> pass_;
  std::unique_ptr<Planner> planner_;
};

TargetPass pass_of(GopQuality quality, std::int64_t frames, std::uint64_t bytes) {
  return {quality.qp, quality.lambda_scale, {.frames = frames, .bytes = bytes}};
}
GopQuality quality_of(const TargetPass& pass) { return {pass.qp, pass.lambda_scale}; }
GopQuality quality_of(const CodingSettings& settings) { return {settings.qp, settings.rate.lambda_scale}; }

const TargetPass* find_sample(const std::vector<TargetPass>& samples, GopQuality quality) {
  const auto found = std::ranges::find_if(samples, [&](const TargetPass& sample) { return quality_of(sample) == quality; });
  return found != samples.end() ? &*found : nullptr;
}

}  // namespace

PlannerFactory planner_of(const CappedPass& pass) {
  return [shared = std::make_shared<const CappedPass>(pass)] { return std::make_unique<GopQualityPlanner>(shared); };
}

CappedSearch::CappedSearch(const CodingSettings& settings, double bits_per_s, double cap)
    : settings_(settings_to_search(settings)), target_{Target::Kind::bitrate, bits_per_s, false}, cap_(cap),
      next_{TargetSearch(settings, target_).next(), {}} {
  if (!(cap >= 1) || !std::isfinite(cap)) {
    throw Error(ErrorKind::usage, "C63-GOP-CAP", "a cap must be 1 or more: a GOP needs at least its share of the rate");
  }
}

/// The distance of a size from the rate, in octaves; negative if the size is below the rate.
double CappedSearch::rate_error(std::uint64_t bytes) const {
  const PassFigures& video = passes_.back().figures;
  const auto frames = static_cast<double>(std::max<std::int64_t>(1, video.frames));
  return std::log2(static_cast<double>(std::max<std::uint64_t>(1, bytes)) * 8 * video.frames_per_s / frames / target_.value);
}

double CappedSearch::distance() const { return std::exp2(rate_error(passes_.back().figures.bytes)) - 1; }

bool CappedSearch::met() const { return over_ == 0 && is_size_met(rate_error(passes_.back().figures.bytes)); }

double CappedSearch::place_of(const TargetPass& pass) const { return target_place(settings_, pass.qp, pass.lambda_scale); }

/// Returns true if a GOP exceeds its cap with this quality. Either this was measured, or the GOP exceeded its cap even
/// with a lower quality.
bool CappedSearch::is_over(const Gop& gop, GopQuality quality) const {
  if (const TargetPass* const sample = find_sample(gop.samples, quality)) return sample->figures.bytes > gop.most_bytes;
  const double place = target_place(settings_, quality.qp, quality.lambda_scale);
  return std::ranges::any_of(gop.samples, [&](const TargetPass& sample) {
    return sample.figures.bytes > gop.most_bytes && place_of(sample) <= place;
  });
}

/// Returns the quality for a GOP that exceeds the cap with the video's quality. If no new qualities may be tried, it is
/// also called for a GOP that was not measured with the video's quality.
CappedSearch::Choice CappedSearch::own_choice(const Gop& gop) const {
  const auto most = static_cast<double>(gop.most_bytes);
  const TargetPass* fitting = nullptr;
  for (const TargetPass& sample : gop.samples) {
    if (sample.figures.bytes > gop.most_bytes) continue;
    if (fitting == nullptr || sample.figures.bytes > fitting->figures.bytes) fitting = &sample;
  }
  if (fitting != nullptr && static_cast<double>(fitting->figures.bytes) >= kLeastShare * most) {
    return {quality_of(*fitting), true, true, fitting->figures.bytes};
  }
  if (may_try()) {
    try {
      const TargetSearch search(settings_, {Target::Kind::bytes, std::max(1.0, kAim * most), false}, gop.samples);
      const GopQuality quality = quality_of(search.next());
      if (find_sample(gop.samples, quality) == nullptr) return {quality, true, false, static_cast<std::uint64_t>(kAim * most)};
    } catch (const Error& error) {
      if (error.id() != "C63-TARGET-LIMIT") throw;
    }
  }
  // No untried quality could be better, or none may be tried any more. Use the best known one that fits.
  if (fitting != nullptr) return {quality_of(*fitting), true, true, fitting->figures.bytes};
  const auto least = std::ranges::min(gop.samples, {}, [](const TargetPass& sample) { return sample.figures.bytes; });
  throw Error(ErrorKind::limit, "C63-GOP-CAP",
              "the GOP of frames " + std::to_string(gop.first_frame) + " to " +
                  std::to_string(gop.first_frame + gop.frames - 1) + " may take " + std::to_string(gop.most_bytes) +
                  " bytes, but takes " + std::to_string(least.figures.bytes) + " at the lowest quality");
}

CappedSearch::Choice CappedSearch::choice(const Gop& gop, GopQuality of_video) const {
  const TargetPass* const sample = find_sample(gop.samples, of_video);
  if (is_over(gop, of_video) || (sample == nullptr && !may_try())) return own_choice(gop);
  return {of_video, false, sample != nullptr, sample != nullptr ? sample->figures.bytes : static_cast<std::uint64_t>(kAim * static_cast<double>(gop.most_bytes))};
}

void CappedSearch::plan_pass(GopQuality of_video, bool is_last) {
  next_.settings = settings_;
  next_.settings.qp = of_video.qp;
  next_.settings.rate.lambda_scale = of_video.lambda_scale;
  next_.gops.clear();
  for (const Gop& gop : gops_) {
    const Choice chosen = choice(gop, of_video);
    if (chosen.has_own) next_.gops[gop.first_frame] = chosen.quality;
  }
  last_ = is_last;
}

void CappedSearch::plan() {
  // The size of the video with this quality in all GOPs. Only GOPs that would exceed their cap have a quality of their
  // own.
  struct Whole {
    std::uint64_t bytes = 0;
    std::uint64_t without_cap = 0;
    bool is_known = true;
    bool all_capped = true;
  };
  const auto whole_with = [&](GopQuality quality) {
    Whole whole;
    for (const Gop& gop : gops_) {
      const Choice chosen = choice(gop, quality);
      const TargetPass* const sample = find_sample(gop.samples, quality);
      whole.bytes += chosen.bytes;
      whole.without_cap += sample != nullptr ? sample->figures.bytes : chosen.bytes;
      whole.is_known = whole.is_known && chosen.is_known;
      whole.all_capped = whole.all_capped && chosen.has_own;
    }
    return whole;
  };
  std::vector<TargetPass> known;
  // Among the passes whose quality would exceed the cap in every GOP, and whose capped GOPs together keep the rate: the
  // one with the lowest quality.
  std::optional<TargetPass> all_capped;
  for (const TargetPass& pass : passes_) {
    if (find_sample(known, quality_of(pass)) != nullptr) continue;
    const Whole whole = whole_with(quality_of(pass));
    TargetPass kept = pass;
    kept.figures.bytes = whole.bytes;
    if (!whole.all_capped) {
      known.push_back(kept);
    } else if (rate_error(whole.bytes) > 0) {
      kept.figures.bytes = whole.without_cap;  // so that the search knows how far this quality is from the rate
      known.push_back(kept);
    } else if (!all_capped || place_of(kept) < place_of(*all_capped)) {
      all_capped = kept;
    }
  }
  if (all_capped) known.push_back(*all_capped);
  const auto meets = [&](const TargetPass& pass) { return is_size_met(rate_error(pass.figures.bytes)); };
  const TargetPass* found = nullptr;
  for (const TargetPass& pass : known) {
    if (meets(pass) && (found == nullptr || pass.figures.bytes > found->figures.bytes)) found = &pass;
  }
  GopQuality quality;
  if (found != nullptr) {
    quality = quality_of(*found);
  } else {
    // If every GOP is limited by its cap, a higher quality of the video changes nothing.
    quality = all_capped ? quality_of(*all_capped) : quality_of(TargetSearch(settings_, target_, known).next());
  }
  if (!may_try()) {
    const TargetPass* best = nullptr;
    for (const TargetPass& pass : known) {
      if (rate_error(pass.figures.bytes) <= 0 && (best == nullptr || pass.figures.bytes > best->figures.bytes)) best = &pass;
    }
    if (best == nullptr) {
      throw Error(
          ErrorKind::limit, "C63-TARGET-LIMIT",
          "no quality for " + describe(target_) + " was found within " + std::to_string(kMostPasses) + " passes");
    }
    quality = quality_of(*best);
  }
  plan_pass(quality, find_sample(passes_, quality) != nullptr && whole_with(quality).is_known);
}

bool CappedSearch::add(const PassFigures& figures, std::span<const GopFigures> gops) {
  const CappedPass made = next_;
  passes_.push_back({made.settings.qp, made.settings.rate.lambda_scale, figures});
  if (gops_.empty()) {
    for (const GopFigures& gop : gops) {
      const double bytes = cap_ * target_.value / 8 * static_cast<double>(gop.frames) / figures.frames_per_s;
      gops_.push_back({gop.first_frame, gop.frames, static_cast<std::uint64_t>(std::min(bytes, 0x1p62)), {}});
    }
  }
  over_ = 0;
  for (std::size_t i = 0; i < std::min(gops_.size(), gops.size()); ++i) {
    Gop& gop = gops_[i];
    const auto own = made.gops.find(gop.first_frame);
    const GopQuality quality = own != made.gops.end() ? own->second : quality_of(made.settings);
    if (find_sample(gop.samples, quality) == nullptr) gop.samples.push_back(pass_of(quality, gop.frames, gops[i].bytes));
    over_ += gops[i].bytes > gop.most_bytes ? 1 : 0;
  }
  if (last_) return true;
  plan();
  // If the final pass would be the same as the pass that was just made, the search is over.
  return last_ && quality_of(next_.settings) == quality_of(made.settings) && next_.gops == made.gops;
}

}  // namespace c63
