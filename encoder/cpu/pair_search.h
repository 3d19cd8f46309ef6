#pragma once

#include <memory>
#include <span>
#include <vector>

#include "c63/motion_search.h"
#include "codec/geometry.h"
#include "cpu/kernels.h"

namespace c63::cpu {

class PairSearcher;

/// Does the work of estimate_motion() with the kernels of one instruction set. The caller has checked the pairs of
/// planes, which all have the same size.
class PairSearchers {
 public:
  PairSearchers(int width, int height, const MotionSettings& settings, const Kernels& kernels);
  ~PairSearchers();

  [[nodiscard]] const PlaneGeometry& geometry() const { return geometry_; }
  void search(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around);

 private:
  PlaneGeometry geometry_;
  MotionSettings settings_;
  const Kernels& kernels_;
  std::vector<std::unique_ptr<PairSearcher>> searchers_;  ///< one for each pair that is searched at the same time
};

}  // namespace c63::cpu
