#include "cpu/search_method.h"

#include <string>

#include "c63/error.h"

namespace c63::cpu {

std::size_t BlockSearcher::starts_of(const BlockTask& task, std::array<Position, kMostStarts>& starts) {
  const auto moved_in = [&](MotionVector vector) -> Position {
    return {std::clamp(task.x + vector.x, task.window.left, task.window.right - 1),
            std::clamp(task.y + vector.y, task.window.top, task.window.bottom - 1)};
  };
  std::size_t count = 0;
  starts[count++] = moved_in({});
  for (const MotionVector predictor : task.predictors) {
    if (count < starts.size()) starts[count++] = moved_in(predictor);
  }
  return count;
}

BestCandidate BlockSearcher::search(const BlockTask& task) const {
  std::array<Position, kMostStarts> starts;
  const std::size_t count = starts_of(task, starts);
  const BlockSearch block = block_search(task);
  SearchCandidates candidates(kernels_, block, {task.x, task.y}, std::span(starts).first(count));
  visit(candidates);
  const SearchCandidates::Candidate& best = candidates.best().front();
  return {best.place.x, best.place.y, best.sad};
}

void BlockSearcher::search_best(std::span<const CostedSearch> blocks, std::size_t count) const {
  for (const CostedSearch& block : blocks) {
    SearchCandidates candidates(kernels_, block, count);
    visit(candidates);
    const SearchWindow& window = block.window;
    std::fill_n(block.keys, count, UINT32_MAX);
    std::uint32_t* key = block.keys;
    for (const SearchCandidates::Candidate& found : candidates.best()) {
      const int index = (found.place.y - window.top) * (window.right - window.left) + found.place.x - window.left;
      *key++ = candidate_key(found.cost, static_cast<std::uint32_t>(index));
    }
  }
}

#define C63_SEARCH_METHOD(method, text, make) \
  std::unique_ptr<BlockSearcher> make(const Kernels& kernels, const PlaneGeometry& geometry, int range);
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD

std::unique_ptr<BlockSearcher> make_block_searcher(SearchMethod method, const Kernels& kernels,
                                                   const PlaneGeometry& geometry, int range) {
  switch (method) {
#define C63_SEARCH_METHOD(method, text, make) \
  case SearchMethod::method:                  \
    return make(kernels, geometry, range);
#include "c63/search_methods.inc"
#undef C63_SEARCH_METHOD
  }
  throw Error(ErrorKind::usage, "C63-METHOD", "there is no search method with number " + std::to_string(static_cast<int>(method)));
}

}  // namespace c63::cpu
