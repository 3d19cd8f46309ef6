#include "common/progress.h"

#include "common/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace c63::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

milliseconds interval(ProgressMode mode) {
  switch (mode) {
    case ProgressMode::tty:
      return milliseconds(100);
    case ProgressMode::json:
      return milliseconds(1000);
    default:
      return milliseconds(5000);
  }
}

double speed_of(const ProgressState& s) {
  return s.elapsed_s > 0 ? static_cast<double>(s.frames) / s.elapsed_s : 0;
}

double kilobits_per_second(const ProgressState& s) {
  if (s.frames == 0) return 0;
  return static_cast<double>(s.bytes) * 8 / 1000 * s.video_fps / static_cast<double>(s.frames);
}

std::optional<double> seconds_left(const ProgressState& s) {
  const double fps = speed_of(s);
  if (!s.total || fps <= 0) return std::nullopt;
  return static_cast<double>(std::max<std::int64_t>(*s.total - s.frames, 0)) / fps;
}

}  // namespace

std::string progress_text(const ProgressState& s) {
  std::string text;
  if (s.total && *s.total > 0) {
    text = fmt::format("[{:.1f}%] {}/{}", 100.0 * static_cast<double>(s.frames) / static_cast<double>(*s.total), s.frames,
                       counted(*s.total, "frame"));
  } else {
    text = counted(s.frames, "frame");
  }
  text += fmt::format(", {:.1f} fps", speed_of(s));
  if (s.bytes > 0) text += fmt::format(", {:.1f} kb/s", kilobits_per_second(s));
  if (const auto left = seconds_left(s)) {
    const auto seconds = static_cast<std::int64_t>(std::ceil(*left));
    text += fmt::format(", eta {}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
  return text;
}

std::string progress_json(const ProgressState& s) {
  nlohmann::ordered_json json = {{"event", "progress"}, {"frames", s.frames}};
  json["total_frames"] = s.total ? nlohmann::ordered_json(*s.total) : nlohmann::ordered_json(nullptr);
  json["frames_per_s"] = speed_of(s);
  json["bitrate_kb_per_s"] = kilobits_per_second(s);
  json["coded_bytes"] = s.bytes;
  json["elapsed_s"] = s.elapsed_s;
  const auto left = seconds_left(s);
  json["eta_s"] = left ? nlohmann::ordered_json(*left) : nlohmann::ordered_json(nullptr);
  return json.dump();
}

Progress::Progress(ProgressMode mode, std::shared_ptr<Console> console, std::optional<std::int64_t> total,
                   double video_fps, Clock clock)
    : mode_(mode), console_(std::move(console)), clock_(std::move(clock)), start_(clock_()), shown_(start_) {
  if (mode_ == ProgressMode::automatic) mode_ = console_->terminal() ? ProgressMode::tty : ProgressMode::plain;
  // Overwriting a line needs a terminal. Files and pipes never get a carriage return.
  if (mode_ == ProgressMode::tty && !console_->terminal()) mode_ = ProgressMode::plain;
  state_.total = total;
  state_.video_fps = video_fps;
}

Progress::~Progress() {
  if (mode_ == ProgressMode::tty) console_->clear_status();
}

void Progress::advance(std::uint64_t bytes, std::int64_t frames) {
  state_.frames += frames;
  state_.bytes += bytes;
  if (state_.total && state_.frames > *state_.total) state_.total.reset();  // the video's header was wrong
  if (mode_ == ProgressMode::none) return;
  const steady_clock::time_point now = clock_();
  if (now - shown_ < interval(mode_)) return;
  shown_ = now;
  show();
}

void Progress::finish() {
  if (std::exchange(finished_, true)) return;
  if (mode_ == ProgressMode::tty) console_->clear_status();
  if (mode_ == ProgressMode::json) show();
}

void Progress::show() {
  state_.elapsed_s = std::chrono::duration<double>(clock_() - start_).count();
  switch (mode_) {
    case ProgressMode::tty:
      console_->status(progress_text(state_));
      break;
    case ProgressMode::plain:
      console_->line(progress_text(state_));
      break;
    case ProgressMode::json:
      console_->line(progress_json(state_));
      break;
    default:
      break;
  }
}

}  // namespace c63::tools
