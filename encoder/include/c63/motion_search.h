#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "c63/fine_motion.h"
#include "c63/motion_vector.h"
#include "c63/picture.h"
#include "c63/settings.h"

namespace c63 {

/// Two planes of one size. Each block of `current` is searched for in `reference`.
struct MotionPair {
  ConstPlaneView current;
  ConstPlaneView reference;
};

/// How estimate_motion() searches, and which vector it chooses.
struct MotionSettings {
  int range = 16;  ///< 1..127 samples
  SearchMethod method = SearchMethod::full;
  /// The zero vector is chosen if its SAD is below the smallest SAD plus `zero_bias`; 0..16320. 0 has no effect; with 1
  /// the zero vector wins ties. Above 0, the zero vector takes part even if it is not a candidate.
  int zero_bias = 0;
  /// MotionResults::seconds leaves out the candidates that are near the chosen vector: those that differ from it by
  /// less than `second_distance` samples on both axes; 1..127. With 1, only the chosen vector is left out.
  int second_distance = 1;
  /// True: the 64 bytes before and after each plane can be read; their values do not matter. Planes are then searched
  /// without a copy.
  bool guarded = false;
  std::optional<SimdLevel> simd = {};  ///< instruction set of the kernels; empty: the fastest that the machine has
  /// For a PairSearch: searches true motion by these settings instead. The settings above have no effect then.
  std::optional<FineMotionSettings> fine = {};
};

/// Where the results of all pairs are written: those of the first pair, then those of the second, and so on. A pair has
/// one entry for each 8x8 block, in raster order. The caller owns the memory.
struct MotionResults {
  MotionVector* vectors = nullptr;
  std::uint16_t* sads = nullptr;      ///< sums of absolute differences (SADs) of the vectors, 0..16320; null: not wanted
  /// The smallest SAD of the candidates that are far enough from the chosen vector (see second_distance); kNoSecond if
  /// there is none; null: not wanted.
  std::uint16_t* seconds = nullptr;
  /// Four values per block: the SADs of its 4x4 quarters, in raster order; null: not wanted.
  std::uint16_t* quarters = nullptr;
  // The results of estimate_fine_motion(). There is an entry for each 8x8 block, whatever the size of the searched blocks:
  // the vector of the searched block that contains it, and its own SAD. With fraction 32, SADs are those before the step
  // along the gradient.
  FineVector* fine = nullptr;
  std::uint8_t* agrees = nullptr;  ///< 1: the block agrees (FineMotionSettings::check); null: not wanted

  static constexpr std::uint16_t kNoSecond = 65535;
};

/// Searches the motion of pairs of planes in host memory, as estimate_motion() does.
using PairSearch = std::function<void(std::span<const MotionPair>, const MotionResults&)>;

/// Finds the best vector of every 8x8 block of every pair, on the CPU, with all threads of the caller's pool. All
/// planes have the same size, with sides that are multiples of 8.
///
/// Candidates follow the codec's rules. The components of a vector are from -range to range-1. The block that it points
/// to lies inside `reference` and does not touch the right or bottom edge. Of equal SADs, the first in raster order
/// wins. A block without candidates gets (0, 0).
///
/// `around` is null, or has a vector for each block of each pair. The range then counts from that vector instead of (0,
/// 0). Components of vectors stay in -128..127. Throws Error (usage) for other sizes and settings.
void estimate_motion(std::span<const MotionPair> pairs, const MotionSettings& settings, const MotionResults& results,
                     const MotionVector* around = nullptr);

/// Does the work of estimate_motion() for several calls with planes of the same size. It keeps its memory from one call
/// to the next. With SearchMethod::full, it also learns which of two exact searches is faster on the video. Only one
/// thread at a time may use it.
class PlaneSearcher {
 public:
  explicit PlaneSearcher(const MotionSettings& settings);
  ~PlaneSearcher();
  PlaneSearcher(PlaneSearcher&&) noexcept;
  PlaneSearcher& operator=(PlaneSearcher&&) noexcept;

  /// Works as estimate_motion() does. Also throws Error (usage) if the size of the planes is not that of the first
  /// call.
  void estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns a search on the CPU: a PlaneSearcher. It uses all threads of the caller's pool.
[[nodiscard]] PairSearch cpu_pair_search(const MotionSettings& settings);

/// Calls `open` on another thread, while the caller goes on. The first search waits for it. If opening or the first search
/// fails, `fallback` searches from then on; if it is empty, the first search throws the error. `note` gets one line: "searching on "
/// with `name`, or why the CPU searches.
[[nodiscard]] PairSearch open_pair_search(std::function<PairSearch()> open, const std::string& name, PairSearch fallback,
                                          std::function<void(const std::string&)> note);

}  // namespace c63
