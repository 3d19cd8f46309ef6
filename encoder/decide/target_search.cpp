#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

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

/// The usual growth of bits (octaves) and quality (dB) per place, which is an octave of qp.
constexpr double kUsualBits = 0.55;
constexpr double kUsualQuality = 2.8;
/// The longest step from one pass to the next.
constexpr double kLongestStep = 2.5;
/// Places closer than this are the same.
constexpr double kSamePlace = 1e-3;
/// The most passes of a search, without known ones.
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
      return "a size of " + number(target.value) + " bytes";
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
      history_(std::move(known)) {
  const bool possible = is_size() ? target.value >= 1
                        : target.kind == Target::Kind::ssim_y ? target.value > 0 && target.value < 1
                                                              : target.value > 0 && target.value < 100;
  if (!possible || !std::isfinite(target.value)) {
    throw Error(ErrorKind::usage, "C63-TARGET", "no stream can have " + describe(target));
  }
  qp_ = hundredths(settings.qp);
  scale_ = settings.rate.lambda_scale;
  std::erase_if(history_, [&](const TargetPass& pass) { return !figure_of(pass.figures); });
  use_interval(settings.frame_interval);
  known_ = passes_.size();
  if (history_.empty()) return;
  const TargetPass* nearest = best();
  if (nearest == nullptr || !is_met(nearest->figures)) {
    nearest = nullptr;
    for (const TargetPass& pass : history_) {
      const bool is_better = nearest == nullptr || pass.figures.psnr_y_db > nearest->figures.psnr_y_db;
      if (may_drop() && is_met(pass.figures) && is_better) nearest = &pass;
    }
  }
  if (nearest != nullptr) {
    go_to(*nearest);
  } else if (!passes_.empty()) {
    plan_next();
  }
}

CodingSettings TargetSearch::next() const {
  CodingSettings settings = settings_;
  settings.qp = qp_;
  settings.rate.lambda_scale = scale_;
  settings.frame_interval = interval_;
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
  const double error = error_of(history_.back().figures);
  return is_size() ? std::exp2(error) - 1 : error;
}

bool TargetSearch::met() const { return is_met(history_.back().figures); }

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

void TargetSearch::go_to(TargetPass pass) {
  if (pass.frame_interval != interval_) use_interval(pass.frame_interval);
  qp_ = pass.qp;
  scale_ = pass.lambda_scale;
}

void TargetSearch::go_to(double place) {
  const double wanted = std::exp2(place);
  double qp = std::clamp(wanted, least_qp(settings_), static_cast<double>(kMaxQp));
  if (locked_step_ != 0) {
    // As close as the same tables allow.
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

/// The place between two points where the parabola through them and a third point has the given error, as a share of the way.
/// Empty if there is no third point, or if the parabola leaves the range. This is inverse interpolation.
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
    // Not too close to an end, because a bent curve would then need many short steps.
    const double share = std::clamp(bent_place(points, aim, *below, *above).value_or(straight), 0.02, 0.98);
    return below->place + share * width;
  }
  // All points are on one side. Continue the line through the nearest point to the target and the next one with the same tables. Of
  // points at the same distance, only the furthest tells anything.
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
  // If the target seems to lie beyond the format's range, try its end first.
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

/// The pass that already shows the planned one's result, or null. Its tables are equal and its λ hardly differs.
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

/// Leaves the place of a known pass: plans the nearest place towards the target with other decisions. If there is none before a
/// pass on the other side of the target, only λ can lie between the two, because qp has steps.
void TargetSearch::leave_known(double place) {
  constexpr double kNearest = 0.00125;
  constexpr double kFurthest = 16;
  const TargetPass* known = made_before();
  if (known == nullptr) return;
  const bool is_above = error_of(known->figures) > 0;
  const TargetPass* here = known;
  const TargetPass* beyond = nullptr;
  double near = 0;  // distances from the place; up to `near`, all is known and on the same side of the target
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
  const TargetPass* const least = may_drop() ? pass_at_end(longest_interval()) : nullptr;
  if (least != nullptr && error_of(least->figures) > 0) refuse();
  if (probes_) {
    // Key frames and repeats alone were measured, and fit. Drop no frame without need.
    probes_ = false;
    const bool needs = pass_at_end(settings_.frame_interval) != nullptr;
    use_interval(needs ? estimated_interval(settings_.frame_interval) : settings_.frame_interval);
    go_to(ends().first);
    if (made_before() == nullptr) return;
  }
  // No pass with this interval can be better if one that takes too much is not. A fifth of the bytes is worth less than 1 dB.
  constexpr double kFifth = 0.3;  // octaves
  const auto is_hopeless = [&](const TargetPass& pass) {
    const double error = error_of(pass.figures);
    const double psnr = pass.figures.psnr_y_db.value_or(0) + (error > 0 ? 0 : 1);
    return error > -kFifth && psnr <= kept_->figures.psnr_y_db.value_or(0);
  };
  if (kept_ && interval_ != kept_->frame_interval && std::ranges::any_of(passes_, is_hopeless)) {
    last_ = true;
    return go_to(*kept_);
  }
  if (const TargetPass* const nearest = best(); interval_ != settings_.frame_interval && nearest != nullptr && is_met(nearest->figures)) {
    return finish(*nearest);
  }
  // The passes on either side of the target have different tables. Between them bits are not a line, but for each of the tables
  // they are.
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
    // If the target seems to be out of reach, key frames and repeats alone tell whether it can be met at all.
    probes_ = may_drop() && *place <= ends().first && longest_interval() > interval_ && least == nullptr;
    if (probes_) use_interval(longest_interval());
    go_to(*place);
    if (probes_) return;
    leave_known(*place);
    if (made_before() == nullptr) return;
  }
  if (const TargetPass* const nearest = best()) return finish(*nearest);
  if (kept_) {
    last_ = true;
    return go_to(*kept_);
  }
  if (!drop_frames()) refuse();
}

void TargetSearch::refuse() const {
  const auto& least = std::ranges::min(history_, {}, [](const TargetPass& pass) { return pass.figures.bytes; });
  const bool of_repeats = least.frame_interval > settings_.frame_interval;
  throw Error(ErrorKind::limit, "C63-TARGET-LIMIT",
              describe(target_) + " cannot be kept: at the lowest quality " +
                  (of_repeats ? "key frames and repeats alone take " : "the stream takes ") + std::to_string(least.figures.bytes) +
                  " bytes");
}

int TargetSearch::longest_interval() const {
  const std::int64_t frames = history_.empty() ? settings_.key_interval : std::max<std::int64_t>(1, history_.back().figures.frames);
  return std::max(settings_.frame_interval, static_cast<int>(std::min<std::int64_t>(settings_.key_interval, frames)));
}

void TargetSearch::use_interval(int interval) {
  interval_ = interval;
  locked_step_ = 0;
  known_ = 0;
  passes_.clear();
  std::ranges::copy_if(history_, std::back_inserter(passes_), [&](const TargetPass& pass) { return pass.frame_interval == interval; });
}

const TargetPass* TargetSearch::pass_at_end(int interval) const {
  const auto found = std::ranges::find_if(history_, [&](const TargetPass& pass) {
    return pass.frame_interval == interval && target_place(settings_, pass.qp, pass.lambda_scale) <= ends().first + kSamePlace;
  });
  return found != history_.end() ? &*found : nullptr;
}

int TargetSearch::estimated_interval(int above) const {
  const PassFigures& figures = history_.back().figures;
  const std::int64_t frames = std::max<std::int64_t>(1, figures.frames);
  const std::int64_t length = std::min<std::int64_t>(frames, settings_.key_interval);
  // The coded inter frames. GOPs at scene cuts do not matter here.
  const auto coded = [&](std::int64_t interval) {
    const std::int64_t rest = frames % length;
    const std::int64_t of_rest = rest == 0 ? 0 : (rest - 1) / interval;
    return static_cast<double>(frames / length * ((length - 1) / interval) + of_rest);
  };
  const auto least = static_cast<double>(pass_at_end(longest_interval())->figures.bytes);
  const double of_frame = (static_cast<double>(pass_at_end(above)->figures.bytes) - least) / std::max(1.0, coded(above));
  const double size = target_.kind == Target::Kind::bytes
                          ? target_.value
                          : target_.value / 8 * static_cast<double>(frames) / figures.frames_per_s;
  for (int interval = above + 1; interval < longest_interval(); ++interval) {
    if (least + of_frame * coded(interval) <= size) return interval;
  }
  return longest_interval();
}

/// Plans a pass with fewer coded frames, because the size is exceeded. Returns false if there are none to drop.
bool TargetSearch::drop_frames() {
  if (!may_drop() || interval_ >= longest_interval() || made_ >= kMostPasses) return false;
  probes_ = pass_at_end(longest_interval()) == nullptr;
  use_interval(probes_ ? longest_interval() : estimated_interval(interval_));
  go_to(ends().first);
  if (made_before() != nullptr) plan_next();
  return true;
}

/// Takes the best pass with this interval. If frames are dropped, a longer interval may be better.
void TargetSearch::finish(const TargetPass& pass) {
  last_ = true;
  if (interval_ == settings_.frame_interval) return go_to(pass);
  const bool is_better = !kept_ || pass.figures.psnr_y_db.value_or(0) > kept_->figures.psnr_y_db.value_or(0);
  if (is_better) kept_ = pass;
  const int next = std::min(2 * interval_, longest_interval());
  constexpr std::size_t kPassesOfAnInterval = 4;
  if (!is_better || next == interval_ || !pass.figures.psnr_y_db || made_ + kPassesOfAnInterval > kMostPasses) return go_to(*kept_);
  last_ = false;
  const double place = target_place(settings_, pass.qp, pass.lambda_scale) + 1 / kUsualBits;
  use_interval(next);
  go_to(std::clamp(place, ends().first, ends().second));
  if (made_before() != nullptr) plan_next();
}

bool TargetSearch::add(const PassFigures& figures) {
  if (!figure_of(figures)) {
    throw Error(ErrorKind::usage, "C63-TARGET",
                describe(target_) + " cannot be searched for: it was not measured, or the pictures are too small for it");
  }
  ++made_;
  const auto is_next = [this](const TargetPass& pass) {
    return pass.qp == qp_ && pass.lambda_scale == scale_ && pass.frame_interval == interval_;
  };
  const auto known = std::ranges::find_if(history_, is_next);
  if (known != history_.end() && (known->figures.bytes != figures.bytes ||
                                  std::abs(error_of(known->figures) - error_of(figures)) > kSameFigure)) {
    history_.clear();
    passes_.clear();
    kept_.reset();
    known_ = 0;
    locked_step_ = 0;
    last_ = probes_ = false;
  }
  history_.push_back({qp_, scale_, figures, interval_});
  passes_.push_back(history_.back());
  if (met() && interval_ == settings_.frame_interval) return true;
  // The best pass may be the one that was just made.
  const auto is_over = [&] { return last_ && is_next(history_.back()); };
  if (!last_) met() ? finish(history_.back()) : plan_next();
  if (!is_over() || known_ == 0) return is_over();
  // If bits jump, known passes may have led to a dead end. Search again with only the passes of this search.
  history_.erase(history_.begin(), history_.end() - static_cast<std::ptrdiff_t>(made_));
  use_interval(interval_);
  last_ = false;
  plan_next();
  return is_over();
}

}  // namespace c63
