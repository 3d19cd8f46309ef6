#include "cuda_me/backend/chain_state.h"

namespace c63::cuda {
namespace {

/// The vectors of the frame before the next one.
MotionVector* last_vectors(const Chain& chain) { return chain.device.vectors[static_cast<std::size_t>((chain.added + 1) % 2)]; }

}  // namespace

ChainState::ChainState(const Chain& chain, const FrameLayout& layout, const Stream& stream)
    : blocks_(static_cast<std::size_t>(layout.blocks)),
      picture_bytes_(layout.picture_bytes),
      pictures_(2 * picture_bytes_),
      vectors_(blocks_),
      newest_(chain.newest),
      inter_(chain.inter),
      may_repeat_(chain.may_repeat) {
  for (std::size_t i = 0; i < 2; ++i) {
    copy_async(pictures_.data() + i * picture_bytes_, chain.device.pictures[i], picture_bytes_, stream);
  }
  copy_async(vectors_.data(), last_vectors(chain), blocks_, stream);
  stream.synchronize();
}

void ChainState::restore(Chain& chain, const Stream& stream) const {
  for (std::size_t i = 0; i < 2; ++i) {
    copy_async(chain.device.pictures[i], pictures_.data() + i * picture_bytes_, picture_bytes_, stream);
  }
  copy_async(last_vectors(chain), vectors_.data(), blocks_, stream);
  stream.synchronize();
  chain.newest = newest_;
  chain.inter = inter_;
  chain.may_repeat = may_repeat_;
}

}  // namespace c63::cuda
