#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/target.h"
#include "c63/settings.h"
#include "codec/quantization.h"
#include "decide/flat_tables.h"
#include "decide/presets.h"
#include "decide/target_place.h"

namespace c63 {
namespace {

// The tolerance of qualities, in the unit of TargetSearch::Point::error.
constexpr double kQualityWindow = 0.05;

constexpr double kLeastScale = 0.05;
constexpr double kMostScale = 4;

/// The usual growth of bits (in octaves) and of quality (in dB) per octave of qp, which is 1 on the scale of places.
constexpr double kUsualBits = 0.55;
constexpr double kUsualQuality = 2.8;
/// The longest step from one pass to the next.
constexpr double kLongestStep = 2.5;
/// Places closer than this are the same.
constexpr double kSamePlace = 1e-3;
/// The most passes of a search. Passes that were known before it do not count.
constexpr std::size_t kMostPasses = 16;
/// Figures of the same stream may differ by this, because sums of fractions depend on their order.
constexpr double kSameFigure = 1e-6;

double ssim_in_db(double ssim) { return -10 * std::log10(std::max(1e-9, 1 - ssim)); }

/// Rounds qp to hundredths and λ's scale to ten thousandths, so that they can be written and repeated.
double hundredths(double qp) { return std::round(qp * 100) / 100; }
double ten_thousandths(double scale) { return std::round(scale * 10000) / 10000; }

/// Writes a number without needless digits.
std::string number(double value) {
  std::array<char, 330> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr};
}

}  // namespace

std::string describe(const Target& target) {
  switch (target.kind) {
    case Target::Kind::bytes:
      return "a size of " + bytes_text(static_cast<std::uint64_t>(target.value));
    case Target::Kind::bitrate:
      return "a bit rate of " + number(target.value / 1000) + " kb/s";
    case Target::Kind::psnr_y:
      return "PSNR Y of " + number(target.value) + " dB";
    case Target::Kind::psnr_all:
      return "PSNR of all planes of " + number(target.value) + " dB";
    case Target::Kind::ssim_y:
      break;
  }
  return "SSIM Y of " + number(target.value);
}

TargetSearch::TargetSearch(const CodingSettings& settings, const Target& target, std::vector<TargetPass> known)
    : settings_(settings_to_search(settings)), target_(target), has_lambda_(preset_decisions(settings).rate.any()), passes_(std::move(known)) {
  const bool possible = is_size() ? target.value >= 1
                        : target.kind == Target::Kind::ssim_y ? target.value > 0 && target.value < 1
                                                              : target.value > 0 && target.value < 100;
  if (!possible || !std::isfinite(target.value)) {
    throw Error(ErrorKind::usage, "C63-TARGET", "no stream can have " + describe(target));
  }
  qp_ = hundredths(settings.qp);
  scale_ = settings.rate.lambda_scale;
  std::erase_if(passes_, [&](const TargetPass& pass) { return !figure_of(pass.figures); });
  known_ = passes_.size();
  if (passes_.empty()) return;
  if (const TargetPass* const nearest = best(); nearest != nullptr && is_met(nearest->figures)) {
    go_to(*nearest);
  } else {
    plan_next();
  }
}

CodingSettings TargetSearch::next() const {
  CodingSettings settings = settings_;
  settings.qp = qp_;
  settings.rate.lambda_scale = scale_;
  return settings;
}

std::optional<double> TargetSearch::figure_of(const PassFigures& figures) const {
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(1, figures.bytes));
  std::optional<double> quality = figures.ssim_y;
  switch (target_.kind) {
    case Target::Kind::bytes:
      return bytes;
    case Target::Kind::bitrate:
      return bytes * 8 * figures.frames_per_s / static_cast<double>(std::max<std::int64_t>(1, figures.frames));
    case Target::Kind::psnr_y:
      quality = figures.psnr_y_db;
      break;
    case Target::Kind::psnr_all:
      quality = figures.psnr_all_db;
      break;
    case Target::Kind::ssim_y:
      break;
  }
  // Pictures that are too small for SSIM have no figure.
  return quality && !std::isnan(*quality) ? quality : std::nullopt;
}

double TargetSearch::error_of(const PassFigures& figures) const {
  const double figure = figure_of(figures).value();
  if (is_size()) return std::log2(figure / target_.value);
  if (target_.kind == Target::Kind::ssim_y) return ssim_in_db(figure) - ssim_in_db(target_.value);
  return std::min(figure, 200.0) - target_.value;
}

double TargetSearch::distance() const {
  const double error = error_of(passes_.back().figures);
  return is_size() ? std::exp2(error) - 1 : error;
}

bool TargetSearch::met() const { return is_met(passes_.back().figures); }

bool TargetSearch::is_met(const PassFigures& figures) const {
  const double error = error_of(figures);
  return is_size() ? is_size_met(error) : std::abs(error) <= kQualityWindow;
}

int TargetSearch::step_of(double qp) const {
  if (!has_lambda_ || preset_decisions(settings_).tables[0] != flat_tables(settings_.qp)[0]) return 0;
  return flat_tables(qp)[0][0];
}

TargetSearch::Point TargetSearch::point_of(const TargetPass& pass) const {
  return {target_place(settings_, pass.qp, pass.lambda_scale), error_of(pass.figures), step_of(pass.qp)};
}

std::pair<double, double> TargetSearch::ends() const {
  double lowest = std::log2(least_qp(settings_));
  double highest = std::log2(static_cast<double>(kMaxQp));
  if (has_lambda_) {
    lowest = target_place(settings_, least_qp(settings_), kMostScale);
    highest = target_place(settings_, kMaxQp, kLeastScale);
  }
  return {lowest, highest};
}

void TargetSearch::go_to(const TargetPass& pass) {
  qp_ = pass.qp;
  scale_ = pass.lambda_scale;
}

void TargetSearch::go_to(double place) {
  const double wanted = std::exp2(place);
  double qp = std::clamp(wanted, least_qp(settings_), static_cast<double>(kMaxQp));
  if (locked_step_ != 0) {
    // The qp nearest to the wanted one whose tables have the step locked_step_.
    double inside = 0;
    for (const TargetPass& pass : passes_) {
      if (step_of(pass.qp) == locked_step_ && (inside == 0 || std::abs(pass.qp - qp) < std::abs(inside - qp))) inside = pass.qp;
    }
    double outside = hundredths(qp);
    if (step_of(outside) != locked_step_) {
      for (int i = 0; i < 30; ++i) {
        const double middle = (inside + outside) / 2;
        (step_of(middle) == locked_step_ ? inside : outside) = middle;
      }
      qp = inside < outside ? std::floor(inside * 100) / 100 : std::ceil(inside * 100) / 100;
    }
  }
  qp_ = hundredths(qp);
  scale_ = settings_.rate.lambda_scale;
  if (!has_lambda_) return;
  const double power = preset_decisions(settings_).lambda_power;
  scale_ = ten_thousandths(std::clamp(scale_ * std::pow(wanted / qp_, power), kLeastScale, kMostScale));
}

/// Returns where between the points `a` and `b` the given error is, as a share of the way from `a` to `b`. This is
/// inverse interpolation by a parabola through `a`, `b` and a third point. Empty if there is no third point, or if the
/// result is not between `a` and `b`.
std::optional<double> TargetSearch::bent_place(const std::vector<Point>& points, double error, const Point& a, const Point& b) {
  const Point* third = nullptr;
  for (const Point& point : points) {
    const bool beside = std::abs(point.error - a.error) > 1e-3 && std::abs(point.error - b.error) > 1e-3;
    if (beside && (third == nullptr || std::abs(point.error - error) < std::abs(third->error - error))) third = &point;
  }
  if (third == nullptr || std::abs(b.error - a.error) < 1e-3) return std::nullopt;
  const auto term = [error](const Point& of, const Point& p, const Point& q) {
    return of.place * (error - p.error) * (error - q.error) / ((of.error - p.error) * (of.error - q.error));
  };
  const double share = (term(a, b, *third) + term(b, a, *third) + term(*third, a, b) - a.place) / (b.place - a.place);
  return share > 0 && share < 1 ? std::optional(share) : std::nullopt;
}

std::optional<double> TargetSearch::next_place() const {
  const double aim = is_size() ? -kSizeWindow / 2 : 0;
  const double usual = is_size() ? kUsualBits : kUsualQuality;
  std::vector<Point> points;
  for (const TargetPass& pass : passes_) {
    const Point point = point_of(pass);
    if (locked_step_ == 0 || point.step == locked_step_) points.push_back(point);
  }
  const Point* below = nullptr;  // the nearest point on either side of the aim
  const Point* above = nullptr;
  for (const Point& point : points) {
    if (point.error <= aim && (below == nullptr || point.place > below->place)) below = &point;
    if (point.error > aim && (above == nullptr || point.place < above->place)) above = &point;
  }
  if (below != nullptr && above != nullptr) {
    const double width = above->place - below->place;
    const double rise = above->error - below->error;
    if (std::abs(width) < kSamePlace || rise < 1e-6) return std::nullopt;
    const double straight = (aim - below->error) / rise;
    // Not too close to an end, because a bent curve would then need many short steps.
    const double share = std::clamp(bent_place(points, aim, *below, *above).value_or(straight), 0.02, 0.98);
    return below->place + share * width;
  }
  // All points are on one side of the target. Continue the line through the point nearest to the target and the next
  // nearest point with the same tables. Of points with equal errors, the one furthest in the direction of the target
  // counts as nearest.
  const double side = points.front().error > aim ? 1 : -1;
  const auto nearer = [&](const Point& a, const Point& b) {
    return std::pair(std::abs(a.error), side * a.place) < std::pair(std::abs(b.error), side * b.place);
  };
  std::ranges::sort(points, nearer);
  const Point& nearest = points.front();
  double slope = usual;
  const auto second = std::find_if(points.begin() + 1, points.end(), [&](const Point& point) {
    return point.step == nearest.step && std::abs(point.place - nearest.place) > kSamePlace;
  });
  if (second != points.end()) {
    const double own = (second->error - nearest.error) / (second->place - nearest.place);
    slope = std::clamp(own, usual / 4, usual * 4);
  }
  const double way = (aim - nearest.error) / slope;
  const auto [lowest, highest] = ends();
  // If the target seems to lie beyond the lowest or the highest place, try that place first.
  if (nearest.place + way <= lowest) return lowest;
  if (nearest.place + way >= highest) return highest;
  return nearest.place + std::clamp(way, -kLongestStep, kLongestStep);
}

const TargetPass* TargetSearch::best() const {
  const TargetPass* found = nullptr;
  double least = 0;
  for (const TargetPass& pass : passes_) {
    const double error = error_of(pass.figures);
    if (is_size() && error > 0) continue;
    if (found != nullptr && std::abs(error) > least) continue;  // of equal errors the last: it need not be repeated
    found = &pass;
    least = std::abs(error);
  }
  return found;
}

PresetDecisions TargetSearch::decisions_of(double qp, double lambda_scale) const {
  CodingSettings settings = settings_;
  settings.qp = qp;
  settings.rate.lambda_scale = lambda_scale;
  return preset_decisions(settings);
}

/// Returns a pass that already shows the result of the planned pass, or null. Both have equal tables and almost the
/// same λ.
const TargetPass* TargetSearch::made_before() const {
  constexpr double kSameLambda = 1e-3;
  const PresetDecisions planned = decisions_of(qp_, scale_);
  const auto found = std::ranges::find_if(passes_, [&](const TargetPass& pass) {
    const PresetDecisions made = decisions_of(pass.qp, pass.lambda_scale);
    const auto difference = static_cast<double>(planned.rate.lambda - made.rate.lambda);
    return made.tables == planned.tables && std::abs(difference) <= kSameLambda * static_cast<double>(made.rate.lambda);
  });
  return found != passes_.end() ? &*found : nullptr;
}

/// If the result at `place` is already known, plans the nearest place towards the target whose result is not known. If
/// all places up to a pass on the other side of the target are known, only a λ between the two passes is left to try,
/// because qp has steps.
void TargetSearch::leave_known(double place) {
  constexpr double kNearest = 0.00125;
  constexpr double kFurthest = 16;
  const TargetPass* known = made_before();
  if (known == nullptr) return;
  const bool is_above = error_of(known->figures) > 0;
  const TargetPass* here = known;
  const TargetPass* beyond = nullptr;
  double near = 0;  // distance from `place` up to which all results are known, on the same side of the target
  double far = kFurthest;
  double way = kNearest;
  while (far - near >= kNearest) {
    go_to(place + (is_above ? -way : way));
    known = made_before();
    if (known == nullptr) return;
    const bool is_beyond = (error_of(known->figures) > 0) != is_above;
    (is_beyond ? far : near) = way;
    (is_beyond ? beyond : here) = known;
    way = far < kFurthest ? (near + far) / 2 : 2 * near;
    if (way > kFurthest) return;
  }
  if (!has_lambda_ || beyond == nullptr) return;
  const auto lambda_of = [this](const TargetPass& pass) {
    return static_cast<double>(decisions_of(pass.qp, pass.lambda_scale).rate.lambda);
  };
  qp_ = here->qp;
  const double scale = here->lambda_scale * std::sqrt(lambda_of(*beyond) / lambda_of(*here));
  scale_ = ten_thousandths(std::clamp(scale, kLeastScale, kMostScale));
}

void TargetSearch::plan_next() {
  // If the nearest passes on both sides of the target have different tables, bits do not rise evenly from one to the
  // other. With the same tables they do. So the search keeps the tables of the nearer pass.
  if (locked_step_ == 0 && passes_.size() >= 2) {
    std::optional<Point> below;
    std::optional<Point> above;
    for (const TargetPass& pass : passes_) {
      const Point point = point_of(pass);
      std::optional<Point>& side = point.error <= 0 ? below : above;
      if (!side || std::abs(point.error) < std::abs(side->error)) side = point;
    }
    constexpr double kNear = 0.35;  // in octaves of qp; closer passes have neighbouring tables
    if (below && above && below->step != above->step && std::abs(above->place - below->place) < kNear) {
      locked_step_ = std::abs(below->error) < std::abs(above->error) ? below->step : above->step;
    }
  }
  const auto place = made_ < kMostPasses ? next_place() : std::nullopt;
  if (place) {
    go_to(*place);
    leave_known(*place);
    if (made_before() == nullptr) return;
  }
  const TargetPass* const nearest = best();
  if (nearest == nullptr) {
    throw Error(ErrorKind::limit, "C63-TARGET-LIMIT",
                describe(target_) + " cannot be kept: at the lowest quality the stream takes " +
                    std::to_string(std::ranges::min(passes_, {}, [](const TargetPass& p) { return p.figures.bytes; }).figures.bytes) +
                    " bytes");
  }
  go_to(*nearest);
  last_ = true;
}

bool TargetSearch::add(const PassFigures& figures) {
  if (!figure_of(figures)) {
    throw Error(ErrorKind::usage, "C63-TARGET",
                describe(target_) + " cannot be searched for: it was not measured, or the pictures are too small for it");
  }
  if (std::exchange(starts_anew_, false)) passes_.clear();
  ++made_;
  const auto known = std::ranges::find_if(
      passes_, [&](const TargetPass& pass) { return pass.qp == qp_ && pass.lambda_scale == scale_; });
  if (known != passes_.end() && (known->figures.bytes != figures.bytes ||
                                 std::abs(error_of(known->figures) - error_of(figures)) > kSameFigure)) {
    passes_.clear();
    known_ = 0;
    locked_step_ = 0;
    last_ = false;
  }
  passes_.push_back({qp_, scale_, figures});
  if (met()) return true;
  // The best pass may be the one that was just made.
  const auto is_over = [this] { return last_ && passes_.back().qp == qp_ && passes_.back().lambda_scale == scale_; };
  if (!last_) plan_next();
  if (!is_over() || known_ == 0) return is_over();
  // If bits jump, known passes may have led the search to a dead end. The search then begins again, as if nothing were
  // known.
  starts_anew_ = true;
  known_ = 0;
  made_ = 0;
  locked_step_ = 0;
  last_ = false;
  qp_ = hundredths(settings_.qp);
  scale_ = settings_.rate.lambda_scale;
  return false;
}

}  // namespace c63
