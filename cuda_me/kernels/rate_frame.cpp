#include "cuda_me/kernels/rate_frame.h"

namespace c63::cuda {
namespace {

constexpr std::array kStages = {
    RateStage{"weights", enqueue_weights},
    RateStage{"repeat error", enqueue_repeat_error},
    RateStage{"search", enqueue_search, true},
    RateStage{"choose vectors", enqueue_choose_vectors},
    RateStage{"list candidates", enqueue_list_candidates},
    RateStage{"transform candidates", enqueue_transform_candidates},
    RateStage{"choose levels", enqueue_choose_levels},
    RateStage{"beam", enqueue_beam},
    RateStage{"code choices", enqueue_code_choices},
};

}  // namespace

WeightedLambdas::WeightedLambdas(Cost lambda) {
  for (int i = 0; i < kWeights; ++i) {
    const auto at = static_cast<std::size_t>(i);
    lambdas[at] = weighted_lambda(lambda, static_cast<Weight>(i));
  }
}

std::span<const RateStage> rate_stages() { return kStages; }

}  // namespace c63::cuda
