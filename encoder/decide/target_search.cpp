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
constexpr std::size_t kMostPasses = 8;
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

/// Returns a figure of a stream, rounded, in the unit of the target.
std::string figure_text(const Target& target, const PassFigures& figures) {
  const double figure = target_figure(target, figures).value();
  if (target.kind == Target::Kind::bytes) return number(figure) + " bytes";
  if (target.kind == Target::Kind::bitrate) return number(hundredths(figure / 1000)) + " kb/s";
  if (target.kind == Target::Kind::ssim_y) return number(std::round(figure * 1e5) / 1e5);
  return number(hundredths(figure)) + " dB";
}

/// The bytes of a stream that cannot be smaller with its settings.
struct LeastBytes {
  double key = 0;  ///< of all key frames
  double inter = 0;
  double growth = 1;  ///< at most this many times as many bytes takes an inter frame that is further from its reference
};

/// Returns the least interval of coded frames with which a video keeps a size of `most` bytes; 1 if it does anyway. Empty
/// if even key frames and repeats alone take more.
std::optional<int> interval_for(double most, const LeastBytes& bytes, std::int64_t frame_count, int key_interval) {
  constexpr double kRepeatBytes = 4;
  if (bytes.key + bytes.inter <= most) return 1;
  const double frames = static_cast<double>(std::max<std::int64_t>(1, frame_count));
  const double gops = std::ceil(frames / key_interval);
  const double least = bytes.key + kRepeatBytes * frames;
  if (least > most) return std::nullopt;
  const double frame_bytes = bytes.growth * (bytes.inter - kRepeatBytes * frames) / std::max(1.0, frames - gops);
  for (int interval = 2; interval < key_interval; ++interval) {
    const double coded = gops * std::floor((std::min<double>(key_interval, frames) - 1) / interval);
    if (least + frame_bytes * coded <= most) return interval;
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
  const bool possible = target.is_size() ? target.value >= 1
                        : target.kind == Target::Kind::ssim_y ? target.value > 0 && target.value < 1
                                                              : target.value > 0 && target.value < 100;
  if (!possible || !std::isfinite(target.value)) {
    throw Error(ErrorKind::usage, "C63-TARGET", "no stream can have " + describe(target));
  }
  std::erase_if(known, [&](const TargetPass& pass) { return !target_figure(target, pass.figures); });
  history_ = passes_ = std::move(known);
  known_ = passes_.size();
  trusts_known_ = known_ > 0;
  if (trusts_known_) plan();
}

double TargetSearch::distance(const TargetPass& pass) const {
  const double error = error_of(pass.figures);
  return target_.is_size() ? std::exp2(error) - 1 : error;
}

bool TargetSearch::met() const {
  const TargetPass* const found = best();
  if (found == nullptr) return false;
  const double error = error_of(found->figures);
  return target_.is_size() ? error <= 0 && error >= -kSizeWindow : std::abs(error) <= kQualityWindow;
}

double TargetSearch::error_of(const PassFigures& figures) const {
  const double figure = target_figure(target_, figures).value();
  if (target_.is_size()) return std::log2(figure / target_.value);
  if (target_.kind == Target::Kind::ssim_y) return ssim_in_db(figure) - ssim_in_db(target_.value);
  return std::min(figure, 200.0) - target_.value;
}

CodingSettings TargetSearch::next() const {
  CodingSettings settings = settings_;
  settings.qp = qp_;
  settings.rate.lambda_scale = scale_;
  return settings;
}

TargetSearch::Point TargetSearch::point_of(const TargetPass& pass) const {
  return {target_place(settings_, pass.qp, pass.lambda_scale), error_of(pass.figures)};
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

void TargetSearch::go_to(double place) {
  const double wanted = std::exp2(place);
  qp_ = hundredths(std::clamp(wanted, least_qp(settings_), static_cast<double>(kMaxQp)));
  scale_ = settings_.rate.lambda_scale;
  if (!has_lambda_) return;
  const double power = preset_decisions(settings_).lambda_power;
  scale_ = scale_near(scale_ * std::pow(wanted / qp_, power));
}

std::optional<double> TargetSearch::next_place() const {
  const double aim = target_.is_size() ? -kSizeWindow / 2 : 0;
  const double usual = target_.is_size() ? kUsualBits : kUsualQuality;
  // Whether a size can be met is shown by the lowest quality, at the latest by the last pass.
  if (target_.is_size() && tried_ + 1 == kMostPasses && best() == nullptr) return ends().first;
  std::vector<Point> points;
  for (const TargetPass& pass : passes_) points.push_back(point_of(pass));
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
    // Stay away from both points by 2 % of their distance. On a bent curve, the search would otherwise approach the
    // target in many short steps. If the curve jumps, it does so nevertheless: the last two passes are on the same side
    // of the target. Then the step from the nearer point is six times as long.
    const double share = std::clamp((aim - below->error) / rise, 0.02, 0.98);
    const auto is_above = [&](const TargetPass& pass) { return error_of(pass.figures) > aim; };
    const bool creeps = passes_.size() >= 4 && is_above(passes_.back()) == is_above(passes_[passes_.size() - 2]);
    const double step = std::min(0.5, 6 * std::min(share, 1 - share));
    return below->place + (!creeps ? share : share < 0.5 ? step : 1 - step) * width;
  }
  // All passes are on one side of the target. Draw a line through two points: the one nearest to the target and the next
  // nearest. If there is no second point, the line has the usual slope. The next place is where this line meets the
  // target. Of points with equal errors, the one whose place lies furthest towards the target counts.
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
    return std::abs(point.place - nearest.place) > kSamePlace;
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
  constexpr double kNear = 4;  // octaves of qp
  if (target_.is_size() && side > 0 && is_flat && nearest.place < lowest + kNear) return lowest;
  // If the target seems to lie beyond the lowest or the highest quality, try that quality first.
  if (nearest.place + way <= lowest) return lowest;
  if (nearest.place + way >= highest) return highest;
  return nearest.place + std::clamp(way, -kLongestStep, kLongestStep);
}

const TargetPass* TargetSearch::best() const {
  const TargetPass* found = nullptr;
  double least = 0;
  for (const TargetPass& pass : history_) {
    const double error = error_of(pass.figures);
    if (target_.is_size() && error > 0) continue;
    if (found != nullptr && std::abs(error) >= least) continue;
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
  if (const auto place = tried_ < kMostPasses ? next_place() : std::nullopt) {
    go_to(*place);
    leave_known(*place);
    if (made_before() == nullptr) return;
  }
  end();
}

/// Plans the next pass, or ends the search.
void TargetSearch::plan() {
  const TargetPass* made = nullptr;
  do {
    met() ? end() : plan_next();
    if (over_ && trusts_known_ && !met()) begin_anew();
    const auto is_next = [this, next = decisions_of(qp_, scale_)](const TargetPass& pass) {
      return decisions_of(pass.qp, pass.lambda_scale) == next;
    };
    const auto found = std::ranges::find_if(history_, is_next);
    made = over_ || found == history_.end() ? nullptr : &*found;
    if (made != nullptr) passes_.push_back({qp_, scale_, made->figures});
  } while (made != nullptr);
}

/// Begins once more without the passes that others made: if bits jump, these can mislead a search. A result that is known
/// is looked up, but only when the search asks for it.
void TargetSearch::begin_anew() {
  trusts_known_ = false;
  passes_.clear();
  tried_ = 0;
  over_ = false;
  qp_ = hundredths(settings_.qp);
  scale_ = settings_.rate.lambda_scale;
}

/// Ends the search: the best pass is the final stream.
void TargetSearch::end() {
  const TargetPass* const nearest = best();
  if (nearest == nullptr) refuse();  // every pass exceeds the size
  over_ = true;
  qp_ = nearest->qp;
  scale_ = nearest->lambda_scale;
}

/// Throws the error of a size that even the lowest quality exceeds. It names options that would do.
void TargetSearch::refuse() const {
  const auto bytes_of = [](const TargetPass& pass) { return pass.figures.bytes; };
  const PassFigures& least = std::ranges::min_element(history_, {}, bytes_of)->figures;
  const double most = static_cast<double>(least.bytes) / std::exp2(error_of(least));
  std::string advice = "; take fewer or smaller frames";
  if (least.key_bytes) {
    // Measured with ten clips: preset good's lowest quality takes less than these shares of preset reference's, except for
    // noise. If frames are left out, the others take up to `growth` times as many bytes.
    const double samples = static_cast<double>(settings_.width) * settings_.height * static_cast<double>(least.frames);
    const bool is_noise = static_cast<double>(least.bytes) * 8 > 1.5 * samples;
    const std::string preset = settings_.preset == Preset::reference && !is_noise ? "--preset good " : "";
    const double key_bytes = static_cast<double>(*least.key_bytes);
    LeastBytes bytes{key_bytes, static_cast<double>(least.bytes) - key_bytes, has_lambda_ ? 2.1 : 1.3};
    if (!preset.empty()) bytes = {0.5 * bytes.key, 0.26 * bytes.inter, 2.1};
    const std::string option = target_.kind == Target::Kind::bytes ? "--size " : "--bitrate ";
    if (const auto interval = interval_for(most, bytes, least.frames, settings_.key_interval)) {
      advice = "; " + preset + (*interval > 1 ? "--frame-interval " + std::to_string(*interval * settings_.frame_interval) + " " : "") + "would do";
    } else if (bytes.key + bytes.inter <= 1000 * most) {
      advice = ": its unit is missing; " + preset + option + number(target_.value) + "k would do";
    }
  }
  throw Error(ErrorKind::limit, "C63-TARGET-LIMIT",
              describe(target_) + " cannot be met: preset " + std::string(name(settings_.preset)) + " takes at least " +
                  figure_text(target_, least) + advice);
}

std::string TargetSearch::shortfall() const {
  const PassFigures& nearest = best()->figures;
  const double error = error_of(nearest);
  const auto [lowest, highest] = ends();
  const bool is_end = std::abs(point_of(*best()).place - (error < 0 ? highest : lowest)) < kSamePlace;
  const std::string text = describe(target_) + " is not met: preset " + std::string(name(settings_.preset));
  if (!is_end) {
    return text + " comes no closer than " + figure_text(target_, nearest) +
           (tried_ < kMostPasses ? ", because the video's bits jump between two qualities" : " in " + number(kMostPasses) + " passes") +
           "; --preset " + (settings_.preset == Preset::good ? "fast" : "good") + " may come closer";
  }
  const bool is_ssim = target_.kind == Target::Kind::ssim_y;
  const double figure = target_figure(target_, nearest).value();
  std::string advice;
  if (!target_.is_size()) {
    const char* const planes = target_.kind == Target::Kind::psnr_all ? "all:" : "";
    advice = "; --target-" + (is_ssim ? "ssim " + number(figure) : "psnr " + (planes + number(hundredths(figure)))) + " would do";
  }
  // Preset good has at least this PSNR at its highest quality, even with noise.
  constexpr double kAlwaysReached = 40.9;
  if (settings_.preset == Preset::reference && !target_.is_size() && !is_ssim) {
    if (error > 0) advice = "; --preset good goes lower";
    if (error < 0 && target_.value <= kAlwaysReached) advice = "; --preset good would do";
  }
  return text + (error < 0 ? " gives at most " : " gives at least ") + figure_text(target_, nearest) + ", at qp " + number(qp_) + advice;
}

bool TargetSearch::add(const PassFigures& figures) {
  if (!target_figure(target_, figures)) {
    throw Error(ErrorKind::usage, "C63-TARGET",
                describe(target_) +
                    " cannot be searched for: it was not measured, or the pictures are too small to measure it");
  }
  const auto is_same = [&](const TargetPass& pass) { return pass.qp == qp_ && pass.lambda_scale == scale_; };
  if (const auto known = std::ranges::find_if(history_, is_same); known != history_.end()) {
    // The final stream is a pass whose stream the caller does not have, so the pass was made once more.
    if (known->figures.bytes == figures.bytes && std::abs(error_of(known->figures) - error_of(figures)) <= kSameFigure) {
      if (known - history_.begin() < static_cast<std::ptrdiff_t>(known_)) --known_;
      history_.erase(known);
    } else {
      const TargetPass made{qp_, scale_, figures};
      begin_anew();
      qp_ = made.qp;
      scale_ = made.lambda_scale;
      history_.clear();
      known_ = 0;
    }
  }
  history_.push_back({qp_, scale_, figures});
  if (!over_) {
    passes_.push_back(history_.back());
    ++tried_;
    plan();
  }
  return over_ && best() - history_.data() >= static_cast<std::ptrdiff_t>(known_);
}

}  // namespace c63
