#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "c63/encoder.h"
#include "c63/gop_cap.h"
#include "c63/quality.h"
#include "c63/target.h"
#include "settings.h"

namespace c63::python {

/// The result of a pass, summed over its frames.
struct PassTotals {
  QualityTotals quality;
  std::vector<GopFigures> gops;
  std::uint64_t key_bytes = 0;  ///< of all key frames

  void add(const EncodedFrame& frame, const CodingSettings& coding);
};

/// The passes over a video towards a target.
class TargetPasses {
 public:
  /// Throws Error (usage) for an impossible target.
  TargetPasses(const CodingSettings& coding, const TargetRequest& request, double frames_per_s);

  [[nodiscard]] CodingSettings next() const { return capped_ ? capped_->next().settings : search_.next(); }
  /// Gives an encoder of next() what settings cannot express: the qualities of single GOPs.
  void prepare(Encoder& encoder) const;
  /// Takes the result of a pass. Returns true if it is the stream.
  bool add(const EncodeSummary& summary, const PassTotals& totals);
  /// Whether the target is met, how nearly, and all passes.
  [[nodiscard]] pybind11::dict summary() const;

 private:
  double frames_per_s_;
  TargetSearch search_;
  std::optional<CappedSearch> capped_;  ///< in its place
};

}  // namespace c63::python
