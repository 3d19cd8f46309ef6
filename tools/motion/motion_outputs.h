#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/outputs.h"
#include "motion/motion_run.h"
#include "motion/motion_stream.h"
#include "motion/summary.h"

namespace c63::tools {

/// What commit_stopped() needs to complete an output that a stop has cut short.
struct StoppedMotion {
  std::string path;
  bool replaces = false;
  std::shared_ptr<spdlog::logger> log;
};

/// An output of c63mv, for the frames of a stream or film.
class MotionOutput {
 public:
  virtual ~MotionOutput() = default;
  /// Returns how many bytes the output needs for a frame, in addition to the frame itself.
  [[nodiscard]] virtual std::uint64_t memory(int width, int height) const = 0;
  virtual void add(const MotionFrame& frame, const MotionTruth* truth) = 0;
  /// Takes a frame of a stream before the first that is shown. Only an output with whole streams overrides it.
  virtual void pass(const MotionFrame& /*frame*/) {}
  /// Says that the next frames belong to a second stream. Only an output that can show two streams overrides it.
  virtual void end_stream(const MotionSummary& /*summary*/, const std::string& /*next*/) {}
  virtual void finish(const MotionSummary& summary) = 0;
  /// Says that a stop has ended the frames early. Must be called before finish().
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

/// Returns the output for options.format; null if there is none. `film` is a film's source, or null for a c63 stream.
/// Throws Error (usage, output).
[[nodiscard]] std::unique_ptr<MotionOutput> make_motion_output(const MotionOptions& options, const FrameSource* film);

/// Does the same for the formats that only films have.
[[nodiscard]] std::unique_ptr<MotionOutput> make_film_output(const MotionOptions& options);

}  // namespace c63::tools
