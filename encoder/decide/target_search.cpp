#include "c63/target.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/options.h"
#include "codec/quantization.h"
#include "decide/presets.h"

namespace c63 {
namespace {

/// After this many passes, the search tries no new quality. Known passes do not count.
constexpr std::size_t kMostPasses = 16;
// A PSNR or SSIM target is met if TargetSearch::Point::error is between minus and plus this, in dB.
constexpr double kQualityWindow = 0.05;

/// How a stream usually changes if its place (target_place()) grows by 1, which means that qp doubles: kUsualBits is
/// the growth of its bits, in octaves, and kUsualQuality that of its quality, in dB.
constexpr double kUsualBits = 0.55;
constexpr double kUsualQuality = 2.8;
/// The longest step from one pass to the next, in octaves of qp. Steps to the lowest or the highest quality may be
/// longer.
constexpr double kLongestStep = 2.5;
/// Places that are closer than this count as equal, in octaves of qp.
constexpr double kSamePlace = 1e-3;
/// The figures of two passes with the same stream may differ by this, because floating-point sums depend on their
/// order.
constexpr double kSameFigure = 1e-6;

double ssim_in_db(double ssim) { return -10 * std::log10(std::max(1e-9, 1 - ssim)); }

const OptionInfo& scale_option() { return option_info("lambda-scale"); }

/// Rounds qp to hundredths and λ's scale to ten thousandths, so that they can be written and repeated.
double hundredths(double qp) { return std::round(qp * 100) / 100; }
double scale_near(double scale) {
  return std::round(std::clamp(scale, scale_option().least, scale_option().most) * 10000) / 10000;
}

/// A size is met if it is at most the target, and at most this many octaves below it.
const double kSizeWindow = -std::log2(0.99);
bool is_size_met(double octaves) { return octaves <= 0 && octaves >= -kSizeWindow; }

/// Returns the settings for all passes of a search, except for their quality. In preset good, trial frames decide
/// whether every second frame stays (reference_alternation.h). With that, bits would jump by a few percent at some
/// quality, and sizes in between could not be met. So it is switched off.
CodingSettings settings_to_search(CodingSettings settings) {
  if (preset_decisions(settings).alternate) settings.rate.adaptive_reference = false;
  return settings;
}

/// Returns the place of a quality on the scale of the search: log2 of the qp that gives the same λ with the settings'
/// own lambda_scale. If the settings do not decide by rate, it is log2(qp).
double target_place(const CodingSettings& settings, double qp, double lambda_scale) {
  const PresetDecisions decisions = preset_decisions(settings);
  const bool has_lambda = decisions.rate.any();
  return std::log2(qp) + (has_lambda ? std::log2(lambda_scale / settings.rate.lambda_scale) / decisions.lambda_power : 0);
}

/// Returns a number as text, with no more digits than needed.
std::string number(double value) {
  std::array<char, 330> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr};
}

bool is_of_size(const Target& target) { return target.kind == Target::Kind::bytes || target.kind == Target::Kind::bitrate; }

std::optional<double> target_figure(const Target& target, const PassFigures& figures) {
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(1, figures.bytes));
  std::optional<double> quality = figures.ssim_y;
  switch (target.kind) {
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
  // Pictures smaller than 8x8 have no SSIM: it is NaN.
  return quality && !std::isnan(*quality) ? quality : std::nullopt;
}

double target_error(const Target& target, const PassFigures& figures) {
  const double figure = target_figure(target, figures).value();
  if (is_of_size(target)) return std::log2(figure / target.value);
  if (target.kind == Target::Kind::ssim_y) return ssim_in_db(figure) - ssim_in_db(target.value);
  return std::min(figure, 200.0) - target.value;
}

bool is_target_met(const Target& target, const PassFigures& figures) {
  const double error = target_error(target, figures);
  return is_of_size(target) ? is_size_met(error) : std::abs(error) <= kQualityWindow;
}

const PassFigures& least_of(const std::vector<TargetPass>& passes) {
  return std::ranges::min_element(passes, {}, [](const TargetPass& pass) { return pass.figures.bytes; })->figures;
}

/// Returns the least interval of coded frames with which a video probably keeps a size of `most` bytes. `figures` are
/// those of the lowest quality without repeats. Empty if even key frames and repeats alone take more, or if the size of
/// key frames is not known.
std::optional<int> interval_for(double most, const PassFigures& figures, int key_interval) {
  constexpr double kRepeatBytes = 4;
  if (!figures.key_bytes) return std::nullopt;
  const double frames = static_cast<double>(std::max<std::int64_t>(1, figures.frames));
  const double gops = std::ceil(frames / key_interval);
  const double least = static_cast<double>(*figures.key_bytes) + kRepeatBytes * frames;
  if (least > most) return std::nullopt;
  const double inter_bytes = static_cast<double>(figures.bytes) - least;
  const double inter_frames = std::max(1.0, frames - gops);
  for (int interval = 2; interval < key_interval; ++interval) {
    const double coded = gops * std::floor((std::min<double>(key_interval, frames) - 1) / interval);
    if (least + inter_bytes * coded / inter_frames <= most) return interval;
  }
  return key_interval;
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
    : settings_(settings_to_search(settings)),
      target_(target),
      has_lambda_(preset_decisions(settings).rate.any()),
      qp_(hundredths(settings.qp)),
      scale_(settings.rate.lambda_scale) {
  const bool possible = is_of_size(target) ? target.value >= 1
                        : target.kind == Target::Kind::ssim_y ? target.value > 0 && target.value < 1
                                                              : target.value > 0 && target.value < 100;
  if (!possible || !std::isfinite(target.value)) {
    throw Error(ErrorKind::usage, "C63-TARGET", "no stream can have " + describe(target));
  }
  std::erase_if(known, [&](const TargetPass& pass) { return !target_figure(target, pass.figures); });
  history_ = passes_ = std::move(known);
  known_ = passes_.size();
  if (passes_.empty()) return;
  if (const TargetPass* const nearest = best(); nearest != nullptr && is_target_met(target_, nearest->figures)) {
    go_to(*nearest);
  } else {
    plan_next();
  }
}

double TargetSearch::distance() const {
  const double error = error_of(history_.back().figures);
  return is_size() ? std::exp2(error) - 1 : error;
}

bool TargetSearch::met() const { return is_target_met(target_, history_.back().figures); }

bool TargetSearch::is_size() const { return is_of_size(target_); }
double TargetSearch::error_of(const PassFigures& figures) const { return target_error(target_, figures); }

CodingSettings TargetSearch::next() const {
  CodingSettings settings = settings_;
  settings.qp = qp_;
  settings.rate.lambda_scale = scale_;
  return settings;
}

int TargetSearch::step_of(double qp) const {
  CodingSettings settings = settings_;
  settings.qp = qp;
  return has_lambda_ ? flat_step(settings).value_or(0) : 0;
}

TargetSearch::Point TargetSearch::point_of(const TargetPass& pass) const {
  return {target_place(settings_, pass.qp, pass.lambda_scale), error_of(pass.figures), step_of(pass.qp)};
}

std::pair<double, double> TargetSearch::ends() const {
  double lowest = std::log2(least_qp(settings_));
  double highest = std::log2(static_cast<double>(kMaxQp));
  if (has_lambda_) {
    lowest = target_place(settings_, least_qp(settings_), scale_option().most);
    highest = target_place(settings_, kMaxQp, scale_option().least);
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
    // Find the qp nearest to the wanted one whose tables have the step locked_step_. `inside` has this step, `outside`
    // has another.
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
  scale_ = scale_near(scale_ * std::pow(wanted / qp_, power));
}

/// Inverse interpolation: draws a parabola through the points a and b and a third one, and finds the place where it has
/// this error. Returns the place as a share of the way from a to b. Empty if there is no third point, or if the place
/// does not lie between a and b.
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
  const Point* below = nullptr;  // the nearest place on either side
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
    // Stay away from both points by 2 % of their distance. On a bent curve, the search would otherwise approach the
    // target in many short steps. If the curve jumps, it does so nevertheless: the last two passes are on the same side
    // of the target. Then the step from the nearer point is six times as long.
    const double share = std::clamp(bent_place(points, aim, *below, *above).value_or(straight), 0.02, 0.98);
    const auto is_above = [&](const TargetPass& pass) { return error_of(pass.figures) > aim; };
    const bool creeps = passes_.size() >= 4 && is_above(passes_.back()) == is_above(passes_[passes_.size() - 2]);
    const double step = std::min(0.5, 6 * std::min(share, 1 - share));
    return below->place + (!creeps ? share : share < 0.5 ? step : 1 - step) * width;
  }
  // All passes are on one side of the target. Draw a line through two points with the same tables: the one nearest to
  // the target and the next nearest. If there is no second point, the line has the usual slope. The next place is where
  // this line meets the target. Of points with equal errors, the one whose place lies furthest towards the target
  // counts.
  const double side = points.front().error > aim ? 1 : -1;
  const auto nearer = [&](const Point& a, const Point& b) {
    return std::pair(std::abs(a.error), side * a.place) < std::pair(std::abs(b.error), side * b.place);
  };
  std::ranges::sort(points, nearer);
  // Where the curve jumps back, a place further towards the target may be no nearer to it. After some passes, the search
  // goes on from that place. Otherwise it would try many places close together.
  const Point& furthest = *std::ranges::min_element(points, {}, [&](const Point& point) { return side * point.place; });
  const Point& nearest = points.size() >= 4 ? furthest : points.front();
  double slope = usual;
  bool is_flat = points.size() >= 3 && std::abs(nearest.error) > 4 * kSizeWindow;
  const auto second = std::find_if(points.begin() + 1, points.end(), [&](const Point& point) {
    return point.step == nearest.step && std::abs(point.place - nearest.place) > kSamePlace;
  });
  if (second != points.end()) {
    const double own = (second->error - nearest.error) / (second->place - nearest.place);
    slope = std::clamp(own, usual / 4, usual * 4);
    is_flat = is_flat || own < usual / 2;
  }
  const double way = (aim - nearest.error) / slope;
  const auto [lowest, highest] = ends();
  // Near the lowest quality, bits hardly fall any more. So try the lowest quality at once: it shows whether the size
  // can be met.
  if (is_size() && side > 0 && is_flat) return lowest;
  // If the target seems to lie beyond the lowest or the highest quality, try that quality first.
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
    if (found != nullptr && std::abs(error) > least) continue;  // of equal ones the last, because it need not be made again
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

/// Returns a pass that was already made with practically the decisions of the planned pass, or null. Its tables are
/// equal, and its λ differs by at most a thousandth.
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

/// If a pass with the decisions of `place` was already made, plans another pass: at the nearest place towards the
/// target whose decisions are new. If the next place with other decisions is a known pass on the other side of the
/// target, no qp lies between the two, because qp has steps. Then only λ is changed, to a value between those of the
/// two passes.
void TargetSearch::leave_known(double place) {
  constexpr double kNearest = 0.00125;
  constexpr double kFurthest = 16;
  const TargetPass* known = made_before();
  if (known == nullptr) return;
  const bool is_above = error_of(known->figures) > 0;
  const TargetPass* here = known;
  const TargetPass* beyond = nullptr;
  double near = 0;  // distances from `place`; up to `near`, all passes are known and on the same side of the target
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
  scale_ = scale_near(scale);
}

void TargetSearch::plan_next() {
  // If the nearest passes below and above the target have different tables, search on only with the tables of the
  // nearer pass. With one set of tables, bits are nearly a line over the quality. From one set to the next, they jump.
  if (locked_step_ == 0 && passes_.size() >= 2) {
    std::optional<Point> below;
    std::optional<Point> above;
    for (const TargetPass& pass : passes_) {
      const Point point = point_of(pass);
      std::optional<Point>& side = point.error <= 0 ? below : above;
      if (!side || std::abs(point.error) < std::abs(side->error)) side = point;
    }
    constexpr double kNear = 0.35;  // octaves of qp: tables next to each other
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
  if (nearest == nullptr) refuse();  // every pass exceeds the size
  go_to(*nearest);
  last_ = true;
}

void TargetSearch::refuse() const {
  const PassFigures& least = least_of(history_);
  const double most = static_cast<double>(least.bytes) / std::exp2(error_of(least));
  const std::optional<int> interval = interval_for(most, least, settings_.key_interval);
  throw Error(ErrorKind::limit, "C63-TARGET-LIMIT",
              describe(target_) + " cannot be met: at the lowest quality the stream takes " + std::to_string(least.bytes) + " bytes; " +
                  (interval ? "--frame-interval " + std::to_string(*interval * settings_.frame_interval) + " would do"
                            : "no --frame-interval would do"));
}

bool TargetSearch::add(const PassFigures& figures) {
  if (!target_figure(target_, figures)) {
    throw Error(ErrorKind::usage, "C63-TARGET",
                describe(target_) +
                    " cannot be searched for: it was not measured, or the pictures are too small to measure it");
  }
  if (std::exchange(starts_anew_, false)) passes_.clear();
  ++made_;
  const auto is_same = [&](const TargetPass& pass) { return pass.qp == qp_ && pass.lambda_scale == scale_; };
  const auto known = std::ranges::find_if(passes_, is_same);
  if (known != passes_.end() && (known->figures.bytes != figures.bytes ||
                                 std::abs(error_of(known->figures) - error_of(figures)) > kSameFigure)) {
    passes_.clear();
    history_.clear();
    known_ = 0;
    locked_step_ = 0;
    last_ = false;
  }
  passes_.push_back({qp_, scale_, figures});
  history_.push_back(passes_.back());
  if (is_target_met(target_, figures)) return true;
  // The search is over if the best pass is the one that was just made. Otherwise the best pass must be made again.
  const auto is_over = [&] { return last_ && is_same(passes_.back()); };
  if (!last_) plan_next();
  if (!is_over() || known_ == 0) return is_over();
  // The search did not meet the target, and it began with known passes. If bits jump, known passes can mislead a
  // search. So forget all passes and search once more.
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
