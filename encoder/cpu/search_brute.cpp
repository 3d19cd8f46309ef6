// Full search that computes the SAD of every candidate. search_automatic.cpp uses it, and it is there for comparisons
// and tests of the kernels.

#include "cpu/search_exhaustive.h"

namespace c63::cpu {
namespace {

class BruteSearch final : public ExhaustiveSearch {
 public:
  using ExhaustiveSearch::ExhaustiveSearch;

  [[nodiscard]] BestCandidate search(const BlockTask& task) const override {
    return kernels_.search_brute(block_search(task));
  }

  [[nodiscard]] PredictorSource wanted_predictors() const override { return PredictorSource::none; }
};

}  // namespace

std::unique_ptr<BlockSearcher> make_brute_search(const Kernels& kernels, const PlaneGeometry& geometry, int range) {
  return std::make_unique<BruteSearch>(kernels, geometry, range);
}

}  // namespace c63::cpu
