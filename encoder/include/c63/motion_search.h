#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// Two planes of one size. The blocks of `current` are searched in `reference`.
struct MotionPair {
  ConstPlaneView current;
  ConstPlaneView reference;
};

/// How estimate_motion() searches pairs, and how it chooses.
struct MotionSettings {
  int range = 16;  ///< 1..127 samples
  SearchMethod method = SearchMethod::full;
  /// The zero vector is chosen if its SAD is below the smallest SAD plus this; 0..16320. 0 changes nothing; with 1 the zero vector
  /// wins ties. With 1 and more it takes part even if it is not a candidate.
  int zero_bias = 0;
  /// MotionResults::seconds leaves out candidates that are closer to the chosen vector than this, on both axes; 1..127 samples.
  /// With 1 only the chosen vector itself is left out.
  int second_distance = 1;
  /// The 64 bytes before and after each plane can be read; their values do not matter. Planes are then searched without a copy.
  bool guarded = false;
};

/// The destination of the results of n pairs, pair after pair. Each pair has one entry for each 8x8 block, in raster order.
struct MotionResults {
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;      ///< sums of absolute differences (SADs) of the vectors, 0..16320; null: not wanted
  std::uint16_t* seconds = nullptr;   ///< smallest SAD of the other candidates, kNoSecond without one; null: not wanted
  std::uint16_t* quarters = nullptr;  ///< four a block: SADs of its 4x4 quarters in raster order; null: not wanted

  static constexpr std::uint16_t kNoSecond = 65535;
};

/// Finds the best vector of every 8x8 block of every pair, on the CPU, on all threads of the caller's arena. All planes have one
/// size, with sides that are multiples of 8.
///
/// The candidates are those of the codec: -range to range-1 on each axis, the block inside `reference`, upper bounds exclusive at
/// the plane's edges, too. The first minimum in raster order wins. A block without candidates gets the vector (0, 0).
///
/// `around` has a vector for each block of each pair, or is null. The range then counts from that vector. Vectors stay in
/// -128..127.
/// Throws Error (usage) for other sizes and settings.
void estimate_motion(std::span<const MotionPair> pairs, const MotionSettings& settings, const MotionResults& results,
                     const MotionVector* around = nullptr);

/// estimate_motion() for one call after another on planes of one size. It keeps its memory, and learns which form of an exact search
/// is faster on the video. Only one thread at a time may use it.
class PlaneSearcher {
 public:
  explicit PlaneSearcher(const MotionSettings& settings);
  ~PlaneSearcher();
  PlaneSearcher(PlaneSearcher&&) noexcept;
  PlaneSearcher& operator=(PlaneSearcher&&) noexcept;

  /// As estimate_motion(). Throws Error (usage) for planes of another size than those before, too.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
