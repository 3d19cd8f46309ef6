#pragma once

#include <memory>
#include <span>
#include <vector>

#include "c63/motion_search.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"

namespace c63::cpu {

class PairSearcher;

/// Does the work of PlaneSearcher with the kernels of one instruction set.
class PairSearchers {
 public:
  PairSearchers(const MotionSettings& settings, const Kernels& kernels);
  ~PairSearchers();

  /// Checks and searches the pairs. All planes of all calls must have the size of the first one.
  void search(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around);

 private:
  PlaneGeometry geometry_;  ///< of the first planes
  MotionSettings settings_;
  const Kernels& kernels_;
  std::vector<std::unique_ptr<PairSearcher>> searchers_;  ///< one for each pair that is searched at the same time
};

}  // namespace c63::cpu
