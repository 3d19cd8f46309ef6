#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda_me/backend/chain.h"
#include "cuda_me/backend/frame_graphs.h"
#include "cuda_me/backend/rate_stages.h"
#include "cuda_me/backend/user_frame_search.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Frames that the device codes together: at most one of each chain.
struct Batch {
  /// The batch's number modulo kBatchesInFlight. It selects the places of the batch's outputs.
  std::size_t outputs = 0;
  std::vector<BatchEntry> entries;
  Event start{Event::Timing::on};
  Event coded{Event::Timing::on};
  Event kept;
  Event done{Event::Timing::on};
};

/// Launches the work of a batch on the device's streams: RateStages for frames that are decided by rate, and enqueue_plain()
/// for the others, then scans and downloads of all. Only one thread at a time may use it.
class FrameStages {
 public:
  /// If `graphs` is true, the work on frames is recorded once and then launched as CUDA graphs. `graphs` has no effect
  /// if there are several chains, if more than coded bytes is downloaded, or if the search is the user's own.
  FrameStages(const CodingContext& context, std::string_view kernel, std::span<Chain> chains, bool graphs);
  ~FrameStages();
  FrameStages(const FrameStages&) = delete;
  FrameStages& operator=(const FrameStages&) = delete;

  /// Launches search, coding, scans and downloads of a batch. The work waits for the event `uploaded`. May reorder the
  /// batch's entries.
  void enqueue(Batch& batch, const Event& uploaded);

  /// The stream on which frames are searched and coded, one batch after another. Frames of side 1 (RateStages) may use
  /// a second stream.
  [[nodiscard]] const Stream& coding_stream() const { return coding_; }

 private:
  /// Returns true if the batch's chains may be divided into two sides (RateStages) that run on separate streams.
  [[nodiscard]] bool may_part(const Batch& batch) const;
  /// Makes the streams of a batch wait for its upload. If the previous batch ran on one stream and this one runs on
  /// two, or the reverse, they also wait for the previous batch. `apart` is true if this batch runs on two streams.
  void part_or_join(bool apart, const Event& uploaded);
  void enqueue_coding_of(const Batch& batch, bool apart);
  /// Launches the work on frames that are not decided by rate, up to the bits of their segments: search by SAD,
  /// transform, quantization, reconstruction.
  void enqueue_plain(std::span<const CodingJob> jobs);
  /// Makes the download stream wait until the batch is coded, on one stream or on both.
  void end_coding(Batch& batch, bool apart);
  void enqueue_downloads(const Batch& batch);
  void download_picture(const std::uint8_t* picture, std::uint8_t* linear);

  const CodingContext& context_;
  std::size_t chains_;
  Stream coding_;
  Stream second_;  ///< for the chains of side 1 if the sides run separately
  Stream download_{Stream::Priority::high};  ///< its few thread blocks are placed before those of the next batch
  std::unique_ptr<UserFrameSearch> user_search_;  ///< a search of the user's own, which replaces the built-in ones; null: none
  Event forked_;
  Event coded_first_;
  Event coded_second_;
  bool apart_ = false;  ///< the sides of the last batch ran separately
  FrameGraphs graphs_;
  std::unique_ptr<MotionSearch> search_;  ///< of frames that are not decided by rate
  std::vector<MotionJob> searches_;
  RateStages rate_;
  std::vector<CodingJob> jobs_;
  std::vector<RateItem> rate_items_;
};

}  // namespace c63::cuda
