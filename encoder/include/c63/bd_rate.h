#pragma once

#include <optional>
#include <span>
#include <string>

namespace c63 {

/// One point of a rate-distortion curve. All curves use one unit of rate. `quality` is any measure where more is better.
struct RdPoint {
  double rate = 0;
  double quality = 0;
};
/// The distance between two rate-distortion curves.
/// How far one rate-distortion curve lies from another.
struct BdResult {
  std::optional<double> rate_percent;  ///< change of rate at equal quality, in percent; negative if the test curve needs less
  std::optional<double> quality;       ///< change of quality at equal rate; positive if the test curve is better
  std::string why_not;                 ///< why a value is missing: "no overlap", "fewer than four points", …
};
/// Bjøntegaard's deltas: the mean distance of the curves over the range they share, with rates on a logarithmic scale.
/// Curves are interpolated by monotone cubics (PCHIP, Fritsch-Carlson slopes, three-point ends). The spreadsheets of the
/// JCT-VC common test conditions do the same. The points may come in any order.
[[nodiscard]] BdResult bjontegaard_delta(std::span<const RdPoint> anchor, std::span<const RdPoint> test);

}  // namespace c63
