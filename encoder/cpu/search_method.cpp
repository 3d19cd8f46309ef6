#include "cpu/search_method.h"

namespace c63::cpu {

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
  }
  return make_automatic_search(kernels, geometry, range);
}

}  // namespace c63::cpu
