#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/stopped_output.h"
#include "motion/motion_run.h"
#include "motion/motion_stream.h"
#include "motion/summary.h"

namespace c63::tools {

/// How an output that a stop cut short is completed: commit_stopped().
struct StoppedMotion {
  std::string path;
  bool replaces = false;
  std::shared_ptr<spdlog::logger> log;
};

/// An output for the frames of a stream.
class MotionOutput {
 public:
  virtual ~MotionOutput() = default;
  /// Returns the most bytes that the output needs for a frame, besides the frame itself.
  [[nodiscard]] virtual std::uint64_t memory(int width, int height) const = 0;
  /// What the output takes of a film's frames besides their motion.
  [[nodiscard]] virtual bool wants_pictures() const { return false; }
  virtual void add(const MotionFrame& frame, const MotionTruth* truth) = 0;
  /// From here on the frames belong to another stream. For outputs that take two.
  virtual void end_stream(const MotionSummary& /*summary*/, const std::string& /*next*/) {}
  virtual void finish(const MotionSummary& summary) = 0;
  /// A stop cut the frames short. Called before finish().
  void set_stopped(StoppedMotion stopped) { stopped_ = std::move(stopped); }

 protected:
  [[nodiscard]] bool is_stopped() const { return stopped_.has_value(); }
  template <typename File>
  void complete(File& file) {
    if (!stopped_) return file.commit();
    (void)commit_stopped(file, stopped_->path, stopped_->replaces, *stopped_->log);
  }

 private:
  std::optional<StoppedMotion> stopped_;
};

/// Returns the output of options.format, or null for none. Throws Error (usage, output).
/// `film` has the format of a film; null: the input is a c63 stream.
[[nodiscard]] std::unique_ptr<MotionOutput> make_motion_output(const MotionOptions& options, const VideoFormat* film);

}  // namespace c63::tools
