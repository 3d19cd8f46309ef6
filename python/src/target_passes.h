#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "c63/encoder.h"
#include "c63/quality.h"
#include "c63/target.h"
#include "settings.h"

namespace c63::python {

/// The results of a pass, summed over its frames.
struct PassTotals {
  QualityTotals quality;
  std::uint64_t key_bytes = 0;  ///< bytes of all key frames

  void add(const EncodedFrame& frame, const CodingSettings& coding);
};

/// The search for a target: says with which settings to make the next pass.
class TargetPasses {
 public:
  /// Throws Error (usage) for an impossible target.
  TargetPasses(const CodingSettings& coding, const TargetRequest& request, double frames_per_s);

  [[nodiscard]] CodingSettings next() const { return search_.next(); }
  /// Takes the results of a pass. Returns true if the stream of this pass is the final one.
  bool add(const EncodeSummary& summary, const PassTotals& totals);
  /// Returns whether the target is met, the distance from it, and all passes.
  [[nodiscard]] pybind11::dict summary() const;

 private:
  double frames_per_s_;
  TargetSearch search_;
};

}  // namespace c63::python
