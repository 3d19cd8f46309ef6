#pragma once

#include <optional>
#include <span>
#include <string>

namespace c63 {

/// One point of a rate-distortion curve. Rates of all curves have one unit; quality is anything where more is better.
struct RdPoint {
  double rate = 0;
  double quality = 0;
};

/// How far one rate-distortion curve lies from another.
struct BdResult {
  std::optional<double> rate_percent;  ///< rate of the test curve at equal quality; negative: it needs less
  std::optional<double> quality;       ///< quality of the test curve at equal rate; positive: it is better
  std::string why_not;                 ///< why one of them is missing: "no overlap", "fewer than four points", …
};

/// Bjøntegaard's deltas: mean distance of the curves over the part they share, rates on a logarithmic scale, curves
/// interpolated by monotone cubics (PCHIP, Fritsch-Carlson slopes, three-point ends) as the spreadsheets of the JCT-VC
/// common test conditions have it. The points may come in any order.
[[nodiscard]] BdResult bjontegaard_delta(std::span<const RdPoint> anchor, std::span<const RdPoint> test);

}  // namespace c63
