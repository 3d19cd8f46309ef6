// A target size is met in one of two ways. Usually a quality is found that gives this size. If even the lowest quality
// gives more bytes, fewer frames are coded.

#include "c63/target.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "decide/quality_search.h"

namespace c63 {
namespace {

constexpr std::size_t kMostPasses = QualitySearch::kMostPasses;

/// Returns a number as text, with no more digits than needed.
std::string number(double value) {
  std::array<char, 330> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr};
}

bool is_same_pass(const TargetPass& a, const TargetPass& b) {
  return a.qp == b.qp && a.lambda_scale == b.lambda_scale && a.frame_interval == b.frame_interval;
}

double psnr_of(const TargetPass& pass) { return pass.figures.psnr_y_db.value_or(0); }

const PassFigures& least_of(const std::vector<TargetPass>& passes) {
  return std::ranges::min_element(passes, {}, [](const TargetPass& pass) { return pass.figures.bytes; })->figures;
}

/// Returns the figures of a pass with the same key frames, in which all other frames are repeats. Empty if the size of
/// key frames is not known.
std::optional<PassFigures> with_repeats(PassFigures figures) {
  constexpr std::uint64_t kRepeatBytes = 4;
  if (!figures.key_bytes) return std::nullopt;
  figures.bytes = *figures.key_bytes + kRepeatBytes * static_cast<std::uint64_t>(std::max<std::int64_t>(0, figures.frames));
  return figures;
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
    : settings_(settings), target_(target), history_(std::move(known)) {
  const bool possible = is_of_size(target) ? target.value >= 1
                        : target.kind == Target::Kind::ssim_y ? target.value > 0 && target.value < 1
                                                              : target.value > 0 && target.value < 100;
  if (!possible || !std::isfinite(target.value)) {
    throw Error(ErrorKind::usage, "C63-TARGET", "no stream can have " + describe(target));
  }
  std::erase_if(history_, [&](const TargetPass& pass) { return !target_figure(target_, pass.figures); });
  use_interval(settings.frame_interval);
  if (history_.empty()) return;
  const auto meets = [&](const TargetPass& pass) { return is_target_met(target_, pass.figures); };
  if (std::ranges::any_of(search_->passes(), meets)) return;
  for (const TargetPass& pass : history_) {
    if (may_drop() && meets(pass) && (!kept_ || psnr_of(pass) > psnr_of(*kept_))) kept_ = pass;
  }
  last_ = kept_.has_value();
  if (!last_) plan();
}

TargetSearch::~TargetSearch() = default;
TargetSearch::TargetSearch(TargetSearch&&) noexcept = default;
TargetSearch& TargetSearch::operator=(TargetSearch&&) noexcept = default;

CodingSettings TargetSearch::next() const {
  CodingSettings settings = probes_ ? settings_of_probe() : search_->next();
  if (last_) {
    settings.qp = kept_->qp;
    settings.rate.lambda_scale = kept_->lambda_scale;
    settings.frame_interval = kept_->frame_interval;
  }
  return settings;
}

double TargetSearch::distance() const {
  const double error = target_error(target_, history_.back().figures);
  return is_of_size(target_) ? std::exp2(error) - 1 : error;
}

bool TargetSearch::met() const { return is_target_met(target_, history_.back().figures); }

bool TargetSearch::may_drop() const { return is_of_size(target_) && target_.may_drop_frames; }

int TargetSearch::longest_interval() const {
  const std::int64_t frames = history_.empty() ? settings_.key_interval : std::max<std::int64_t>(1, history_.back().figures.frames);
  return std::max(settings_.frame_interval, static_cast<int>(std::min<std::int64_t>(settings_.key_interval, frames)));
}

CodingSettings TargetSearch::settings_of_probe() const {
  CodingSettings settings = settings_;
  settings.frame_interval = longest_interval();
  QualitySearch lowest(settings, target_, {});
  lowest.begin_with_lowest();
  return lowest.next();
}

const TargetPass* TargetSearch::probe() const {
  const CodingSettings settings = settings_of_probe();
  const TargetPass wanted{settings.qp, settings.rate.lambda_scale, {}, settings.frame_interval};
  const auto found = std::ranges::find_if(history_, [&](const TargetPass& pass) { return is_same_pass(pass, wanted); });
  return found != history_.end() ? &*found : nullptr;
}

void TargetSearch::use_interval(int interval) {
  CodingSettings settings = settings_;
  settings.frame_interval = interval;
  std::vector<TargetPass> known;
  std::ranges::copy_if(history_, std::back_inserter(known), [&](const TargetPass& pass) { return pass.frame_interval == interval; });
  search_ = std::make_unique<QualitySearch>(settings, target_, std::move(known));
  interval_ = interval;
}

/// Checks what the search plans next. If the target may be impossible, the next pass is a probe: the stream with the
/// fewest bytes. If even the lowest quality exceeds the size with the present interval, the search goes on with a
/// longer interval.
void TargetSearch::plan() {
  const auto exceeds = [this](const PassFigures& figures) { return target_error(target_, figures) > 0; };
  while (search_->is_out_of_reach()) {
    if (kept_) {
      last_ = true;
      return;
    }
    if (!may_drop() || interval_ >= longest_interval() || made_ >= kMostPasses) refuse();
    const TargetPass* const probed = probe();
    const auto least = probed != nullptr ? probed->figures : with_repeats(least_of(search_->passes()));
    probes_ = probed == nullptr && (!least || exceeds(*least));
    if (probes_) return;
    if (exceeds(*least)) refuse();
    use_interval(estimated_interval(least->bytes));
    search_->begin_with_lowest();
  }
  if (interval_ != settings_.frame_interval || !may_drop() || interval_ >= longest_interval()) return;
  if (const TargetPass* const probed = probe()) {
    if (exceeds(probed->figures)) refuse();
    return;
  }
  // If the key frames of the last pass fit into the size, with repeats in place of all other frames, the target is
  // possible. Then no probe is needed.
  const auto least = with_repeats(history_.back().figures);
  probes_ = least ? exceeds(*least) : search_->is_next_the_lowest();
}

void TargetSearch::refuse() const {
  const bool of_repeats = std::ranges::any_of(history_, [&](const TargetPass& pass) { return pass.frame_interval > settings_.frame_interval; });
  throw Error(ErrorKind::limit, "C63-TARGET-LIMIT",
              describe(target_) + " cannot be met: at the lowest quality " +
                  (of_repeats ? "key frames and repeats alone take " : "the stream takes ") +
                  std::to_string(least_of(history_).bytes) + " bytes");
}

int TargetSearch::estimated_interval(std::uint64_t least_bytes) const {
  const PassFigures& figures = history_.back().figures;
  const std::int64_t frames = std::max<std::int64_t>(1, figures.frames);
  const std::int64_t length = std::min<std::int64_t>(frames, settings_.key_interval);
  // Returns the number of inter frames that are coded with this interval. Ignores GOPs that begin at scene cuts: an
  // estimate is enough.
  const auto coded = [&](std::int64_t interval) {
    const std::int64_t rest = frames % length;
    const std::int64_t of_rest = rest == 0 ? 0 : (rest - 1) / interval;
    return static_cast<double>(frames / length * ((length - 1) / interval) + of_rest);
  };
  const auto least = static_cast<double>(least_bytes);
  const double of_frame = (static_cast<double>(least_of(search_->passes()).bytes) - least) / std::max(1.0, coded(interval_));
  const double size = target_.kind == Target::Kind::bytes
                          ? target_.value
                          : target_.value / 8 * static_cast<double>(frames) / figures.frames_per_s;
  for (int interval = interval_ + 1; interval < longest_interval(); ++interval) {
    if (least + of_frame * coded(interval) <= size) return interval;
  }
  return longest_interval();
}

/// Called if the pass that was just made is the best with its interval. If it is also better than the kept pass, keeps
/// it and goes on with twice the interval. Returns true if no other pass is needed: this pass is the final stream.
bool TargetSearch::finish() {
  const TargetPass& pass = history_.back();
  const bool is_better = !kept_ || psnr_of(pass) > psnr_of(*kept_);
  if (is_better) kept_ = pass;
  const int next = std::min(2 * interval_, longest_interval());
  constexpr std::size_t kPassesOfAnInterval = 4;
  if (!is_better || next == interval_ || !pass.figures.psnr_y_db || made_ + kPassesOfAnInterval > kMostPasses) return keep();
  use_interval(next);
  search_->begin_above(*kept_, 1);
  plan();
  return false;
}

/// Ends the search: the kept pass is the final stream. Returns true if it is the pass that was just made. Otherwise it
/// must be made again.
bool TargetSearch::keep() {
  last_ = !is_same_pass(*kept_, history_.back());
  return !last_;
}

/// Returns true if no pass with the present interval can have better pictures than the kept pass. One of its passes
/// shows this: it is larger than the size, or at most a fifth smaller, and its PSNR is too low.
bool TargetSearch::is_hopeless() const {
  // The search assumes that a fifth more bytes raise PSNR by less than 1 dB.
  constexpr double kFifth = 0.3;  // octaves
  return std::ranges::any_of(search_->passes(), [&](const TargetPass& pass) {
    const double error = target_error(target_, pass.figures);
    return error > -kFifth && psnr_of(pass) + (error > 0 ? 0 : 1) <= psnr_of(*kept_);
  });
}

bool TargetSearch::add(const PassFigures& figures) {
  if (!target_figure(target_, figures)) {
    throw Error(ErrorKind::usage, "C63-TARGET",
                describe(target_) +
                    " cannot be searched for: it was not measured, or the pictures are too small to measure it");
  }
  const CodingSettings made = next();
  const TargetPass pass{made.qp, made.rate.lambda_scale, figures, made.frame_interval};
  const bool was_last = std::exchange(last_, false);
  const bool probed = std::exchange(probes_, false);
  ++made_;
  if (std::ranges::any_of(history_, [&](const TargetPass& known) { return is_same_pass(known, pass) && known.figures.bytes != figures.bytes; })) {
    // A known pass with the same settings has another size. So the known passes belong to another encode and are dropped.
    history_.clear();
    kept_.reset();
    if (was_last || probed || interval_ != settings_.frame_interval) {
      history_.push_back(pass);
      use_interval(settings_.frame_interval);
      plan();
      return false;
    }
  }
  history_.push_back(pass);
  if (was_last) return true;
  const bool is_done = !probed && search_->add(figures);
  if (is_done) return interval_ == settings_.frame_interval || finish();
  if (kept_ && is_hopeless()) return keep();
  plan();
  return false;
}

}  // namespace c63
