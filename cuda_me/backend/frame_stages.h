#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_graphs.h"
#include "cuda_me/backend/own_frame_search.h"
#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// A batch: at most one frame of each chain.
struct Batch {
  int turn = 0;  ///< its number modulo kBatchesInFlight, which selects the places of its outputs
  std::vector<BatchEntry> entries;
  Event start{Event::Timing::on};
  Event coded{Event::Timing::on};
  Event kept;
  Event done{Event::Timing::on};
};

/// Launches the search of all planes of an inter frame.
void add_searches(const CodingContext& context, const CodingJob& job, std::vector<MotionJob>& searches);

/// Launches the work of a batch on the device's streams. One thread at a time.
class FrameStages {
 public:
  /// With `graphs`, the frames of a single chain that keeps only bytes are recorded once and launched as graphs.
  FrameStages(const CodingContext& context, MotionKernel kernel, std::span<const Chain> chains, bool graphs);
  ~FrameStages();
  FrameStages(const FrameStages&) = delete;
  FrameStages& operator=(const FrameStages&) = delete;

  /// Launches search, coding, scans and downloads of a batch. Its frames have been uploaded when `uploaded` has passed.
  /// May reorder the batch's entries.
  void enqueue(Batch& batch, const Event& uploaded);

  /// The stream on which frames are searched and coded, one batch after another.
  [[nodiscard]] const Stream& coding_stream() const { return coding_; }

 private:
  [[nodiscard]] const FrameSlot& slot_of(const BatchEntry& entry) const;
  [[nodiscard]] RateItem rate_item(const BatchEntry& entry, const CodingJob& job) const;
  /// Returns true if the chains of both sides of the batch need not wait for each other.
  [[nodiscard]] bool may_part(const Batch& batch) const;
  /// Makes streams wait for each other, if earlier batches used them differently.
  void part_or_join(bool apart, const Event& uploaded);
  void enqueue_coding_of(const Batch& batch, bool apart);
  /// Makes the download stream wait for all coding.
  void end_coding(Batch& batch, bool apart);
  void enqueue_downloads(const Batch& batch);
  void download_picture(const std::uint8_t* picture, std::uint8_t* linear);

  const CodingContext& context_;
  std::span<const Chain> chains_;
  Stream coding_;
  Stream second_;  ///< for the second side's chains, which are decided by rate apart from the others
  Stream download_{Stream::Priority::high};  ///< its few thread blocks come before those of the next batch
  std::unique_ptr<MotionSearch> search_;
  std::unique_ptr<OwnFrameSearch> own_search_;  ///< takes its place, and that of the search by cost; null: none
  Event forked_;
  Event coded_first_;
  Event coded_second_;
  bool apart_ = false;  ///< the last batch used the sides separately
  FrameGraphs graphs_;
  RateStages rate_;
  std::vector<CodingJob> jobs_;
  std::vector<MotionJob> searches_;
  std::vector<RateItem> rate_items_;
};

}  // namespace c63::cuda
