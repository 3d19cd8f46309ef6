#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_graphs.h"
#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// What the device does at once: at most one frame of each chain.
struct Batch {
  int turn = 0;  ///< its number modulo kBatchesInFlight, which says where its outputs are
  std::vector<BatchEntry> entries;
  Event start{Event::Timing::on};
  Event coded{Event::Timing::on};
  Event kept;
  Event done{Event::Timing::on};
};

/// Adds the search of all planes of an inter frame.
void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches);

/// Puts what is to be done with a batch on the device's streams. One thread at a time.
class FrameStages {
 public:
  /// With `graphs`, frames of an only chain that keep nothing besides their bytes are recorded once and launched whole.
  FrameStages(const CodingContext& context, MotionKernel kernel, std::span<const Chain> chains, bool graphs);
  ~FrameStages();
  FrameStages(const FrameStages&) = delete;
  FrameStages& operator=(const FrameStages&) = delete;

  /// Search, coding, scans and downloads of a batch whose frames have been uploaded when `uploaded` has passed. May order the
  /// batch's entries anew.
  void enqueue(Batch& batch, const Event& uploaded);

  /// On which frames are searched and coded, one batch after another.
  [[nodiscard]] const Stream& coding_stream() const { return coding_; }

 private:
  [[nodiscard]] const FrameSlot& slot_of(const BatchEntry& entry) const;
  [[nodiscard]] RateItem rate_item(const BatchEntry& entry, const CodingJob& job) const;
  /// Whether the batch's chains of both sides need not wait for each other.
  [[nodiscard]] bool may_part(const Batch& batch) const;
  /// Makes streams wait for each other where the batches before left it otherwise.
  void part_or_join(bool apart, const Event& uploaded);
  void enqueue_coding_of(const Batch& batch, bool apart);
  /// The download stream waits for all coding.
  void end_coding(Batch& batch, bool apart);
  void enqueue_downloads(const Batch& batch);
  void download_picture(const std::uint8_t* picture, std::uint8_t* linear);

  const CodingContext& context_;
  std::span<const Chain> chains_;
  Stream coding_;
  Stream second_;  ///< on which chains of the second side are decided by rate, apart from the others
  Stream download_{Stream::Priority::high};  ///< its few thread blocks go before those of the next batch
  std::unique_ptr<MotionSearch> search_;
  Event forked_;
  Event coded_first_;
  Event coded_second_;
  bool apart_ = false;  ///< the last batch left the sides apart
  FrameGraphs graphs_;
  RateStages rate_;
  std::vector<CodingJob> jobs_;
  std::vector<MotionJob> searches_;
  std::vector<RateItem> rate_items_;
};

}  // namespace c63::cuda
