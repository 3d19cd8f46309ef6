#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "motion/motion_run.h"
#include "motion/motion_stream.h"
#include "motion/summary.h"

namespace c63::tools {

/// An output for the frames of a stream.
class MotionOutput {
 public:
  virtual ~MotionOutput() = default;
  /// Returns the most bytes that the output needs for a frame, besides the frame itself.
  [[nodiscard]] virtual std::uint64_t memory(int width, int height) const = 0;
  virtual void add(const MotionFrame& frame, const MotionTruth* truth) = 0;
  /// From here on the frames belong to another stream. For outputs that take two.
  virtual void end_stream(const MotionSummary& /*summary*/, const std::string& /*next*/) {}
  virtual void finish(const MotionSummary& summary) = 0;
};

/// Returns the output of options.format, or null for none. Throws Error (usage, output).
[[nodiscard]] std::unique_ptr<MotionOutput> make_motion_output(const MotionOptions& options);

}  // namespace c63::tools
