#include "cuda_me/backend/batch_queue.h"

#include <algorithm>

namespace c63::cuda {

void BatchQueue::submit() {
  const std::lock_guard lock(mutex_);
  for (Chain& chain : chains_) chain.submitted = chain.added;
  if (launched_ == released_) {
    launch();
  } else {
    waiting_ = true;
  }
}

std::int64_t BatchQueue::gather(Batch& batch) const {
  std::int64_t last_upload = 0;
  batch.entries.clear();
  for (int number = 0; Chain& chain : chains_) {
    const BatchEntry entry{number++, &chain, static_cast<std::size_t>(chain.launched % kChainDepth)};
    if (chain.launched == chain.submitted) continue;
    batch.entries.push_back(entry);
    last_upload = std::max(last_upload, entry.frame().upload);
  }
  return last_upload;
}

void BatchQueue::launch() {
  for (;;) {
    const std::int64_t in_flight = launched_ - released_;
    if (in_flight == kBatchesInFlight) return;
    waiting_ = false;
    Batch& next = batch(launched_);
    next.outputs = static_cast<std::size_t>(launched_ % kBatchesInFlight);
    const std::int64_t last_upload = gather(next);
    if (next.entries.empty()) return;
    // The device still has work while an earlier batch is in flight. So wait until at least half of the chains have a
    // frame: larger batches use the device better.
    if (in_flight > 0 && next.entries.size() * 2 < chains_.size()) return;
    try {
      stages_.enqueue(next, uploads_.upload(last_upload).done);  // uploads arrive in order, so the last one is enough
    } catch (const Error& error) {
      throw at_first_frame(error, next);
    }
    for (const BatchEntry& entry : next.entries) ++entry.chain->launched;
    ++launched_;
  }
}

const Batch* BatchQueue::finished() {
  if (waiting_ && launched_ - released_ < kBatchesInFlight) {
    const std::lock_guard lock(mutex_);
    launch();
  }
  if (released_ == launched_) return nullptr;
  const Batch& oldest = batch(released_);
  try {
    return oldest.done.done() ? &oldest : nullptr;
  } catch (const Error& error) {
    throw at_first_frame(error, oldest);
  }
}

void BatchQueue::release() {
  const std::lock_guard lock(mutex_);
  ++released_;
  launch();
}

Error BatchQueue::at_first_frame(const Error& error, const Batch& batch) const {
  return error.at({.frame = batch.entries.front().frame().frame.plan.index});
}

}  // namespace c63::cuda
