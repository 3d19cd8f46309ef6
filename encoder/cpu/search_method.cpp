#include "cpu/search_method.h"

namespace c63::cpu {

BestCandidate BlockSearcher::best_predictor(const BlockTask& task) const {
  const auto candidate = [&](MotionVector vector) {
    const auto [x, y] = candidate_at(task, vector);
    return BestCandidate{x, y, sad_at(task, x, y)};
  };
  BestCandidate best = candidate({});
  MotionVector last;
  for (const MotionVector predictor : task.predictors) {
    if (predictor == last) continue;  // neighbours mostly agree
    last = predictor;
    const BestCandidate found = candidate(predictor);
    if (found.sad < best.sad) best = found;
  }
  return best;
}

std::unique_ptr<BlockSearcher> make_block_searcher(SearchMethod method, const Kernels& kernels,
                                                   const PlaneGeometry& geometry, int range) {
  switch (method) {
    case SearchMethod::full:
      break;
    case SearchMethod::full_brute:
      return make_brute_search(kernels, geometry, range);
    case SearchMethod::full_eliminate:
      return make_eliminating_search(kernels, geometry, range);
    case SearchMethod::zero:
      return make_zero_search(kernels, geometry, range);
    case SearchMethod::diamond:
      return make_diamond_search(kernels, geometry, range);
    case SearchMethod::hex:
      return make_hex_search(kernels, geometry, range);
    case SearchMethod::pyramid:
      return make_pyramid_search(kernels, geometry, range);
  }
  return make_automatic_search(kernels, geometry, range);
}

}  // namespace c63::cpu
