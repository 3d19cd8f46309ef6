#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "c63/settings.h"

namespace c63 {

struct MotionPair;
struct MotionResults;

/// The units of a FineVector in a sample.
inline constexpr int kFineUnits = 32;

/// Where a block was in the reference, in units of 1/kFineUnits samples, x to the right and y down.
struct FineVector {
  std::int16_t x = 0;
  std::int16_t y = 0;
  friend constexpr bool operator==(FineVector, FineVector) = default;
};

/// How estimate_fine_motion() searches. The search has these steps, each the same on every device, bit for bit:
///
/// 1. The exact search of whole samples, by SAD, for blocks of `block` samples. At the right and the lower edge, blocks are
///    cut. The candidates follow the codec's rules (c63/motion_search.h). The zero vector takes part and wins ties. With a
///    range above 127, it is done in pictures of an eighth of the sides. Then the sides are doubled three times. Each time
///    a block tries the vectors of its place and of the four places around it in the smaller picture, and the zero
///    vector, each with all vectors at most 2 samples away.
/// 2. With `smooth`: three passes. In each, a block takes the best of its own vector, the eight neighbours' vectors of the
///    previous pass, and the zero vector. The best has the least SAD + smooth · distance. The distance is the sum of
///    |x| + |y|, at most 16 samples each, between the vector and those of the four nearest neighbours. If a block has
///    more than 8x8 samples, the distance counts once for every 8x8. A pyramid has these passes at each of its levels.
/// 3. With `fraction` 2 or 4: the least SAD of the positions up to 1/2 or 3/4 samples from the vector, on both axes. Half
///    samples are H.264's (6 taps), and so are quarters (means of two neighbours). Samples outside the picture are those of
///    its edge. Of equal SADs, the vector with the smallest |x| + |y| from the whole one wins, then the first in raster order.
/// 4. With `fraction` 32: step 3 with quarters. Then one step along the gradient of the current picture (Lucas and Kanade),
///    of at most a quarter sample on each axis, computed from the block and the 4 samples around it.
struct FineMotionSettings {
  int range = 16;    ///< 1..512 samples
  int block = 8;     ///< sides of blocks: 8, 16 or 32 samples
  int fraction = 4;  ///< 1: whole samples, 2: half, 4: quarter, 32: 1/32
  int smooth = 0;    ///< λ of step 2, 0..1000; 0: no such step
  /// The motion from the reference to the current picture is searched, too. A block agrees if it points to a block whose
  /// vector leads back: on each axis, their sum is at most `check` units of FineVector. Negative: no such search.
  int check = -1;
  std::optional<SimdLevel> simd = {};  ///< instruction set on the CPU; empty: the fastest that the machine has

  /// Returns true if the plain search (c63/motion_search.h) can do this.
  [[nodiscard]] bool is_plain() const { return range <= 127 && block == 8 && fraction == 1 && smooth == 0 && check < 0; }
};

/// Searches motion on the CPU for several calls with planes of the same size, with all threads of the caller's pool. It
/// keeps its memory from one call to the next. Only one thread at a time may use it.
class FineSearcher {
 public:
  /// Throws Error (usage) for settings outside the limits above.
  explicit FineSearcher(const FineMotionSettings& settings);
  ~FineSearcher();
  FineSearcher(FineSearcher&&) noexcept;
  FineSearcher& operator=(FineSearcher&&) noexcept;

  /// Writes the fields fine, sads and agrees of `results`, which has no others. All planes have the same size, with sides
  /// that are multiples of 8. Throws Error (usage) otherwise.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Does the work of FineSearcher for one call.
void estimate_fine_motion(std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results);

/// Throws Error (usage) for settings outside the limits, planes of different sizes or with sides that are not multiples of
/// 8, and results that cannot be written.
void check_fine_motion(std::span<const MotionPair> pairs, const FineMotionSettings& settings, const MotionResults& results);

}  // namespace c63
