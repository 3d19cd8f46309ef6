#pragma once

#include <optional>
#include <span>
#include <string>

namespace c63 {

/// One point of a rate-distortion curve. All points use one unit of rate. `quality` is any measure where more is
/// better.
struct RdPoint {
  double rate = 0;
  double quality = 0;
};
/// The mean distance between two rate-distortion curves.
struct BdResult {
  std::optional<double> rate_percent;  ///< change of rate at equal quality, in percent; negative if `test` needs less
  std::optional<double> quality;       ///< change of quality at equal rate; positive if `test` is better
  std::string why_not;                 ///< why a value is missing: "no overlap", "fewer than four points", …
};
/// Returns the Bjøntegaard deltas of two curves: their mean distance over the range that both cover. Rates are compared
/// on a logarithmic scale. As in the spreadsheets of the JCT-VC common test conditions, curves are interpolated by
/// monotone cubics (PCHIP, Fritsch-Carlson slopes, three-point ends). The points may come in any order.
[[nodiscard]] BdResult bjontegaard_delta(std::span<const RdPoint> anchor, std::span<const RdPoint> test);

}  // namespace c63
