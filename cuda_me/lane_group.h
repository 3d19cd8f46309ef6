#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "c63/error.h"
#include "c63/trace.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/lane_memory.h"
#include "cuda_me/runtime/graph.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "backend/backend.h"

namespace c63::cuda {

/// What a group of lanes is made with.
struct LaneGroupPlan {
  int device = 0;
  int stream_index = 0;    ///< for traces
  std::vector<int> lanes;  ///< the backend's numbers of the group's lanes
  MotionKernel motion_kernel = MotionKernel::automatic;
  Keep keep;
  std::size_t coded_capacity = 0;
  bool graphs = false;  ///< record the work of a frame once and launch it whole; for one lane that keeps nothing
};

/// Lanes of one device whose frames share launches. Frames that wait when the device is about to run dry are taken as
/// one batch, at most one of each lane, so batches are small while the device is idle and grow as it falls behind.
///
/// For two threads: one that adds and submits frames, one that takes them when they are done and, while the device works,
/// gives it more to do: launching takes the host as long as reading a small frame, so that each has a thread.
class LaneGroup {
 public:
  LaneGroup(const EncoderSettings& settings, const LaneGroupPlan& plan);
  ~LaneGroup();
  LaneGroup(const LaneGroup&) = delete;
  LaneGroup& operator=(const LaneGroup&) = delete;

  /// Lanes are the group's own numbers, from 0, in all of these.
  /// How many inputs may be in use before submit().
  [[nodiscard]] int inputs() const { return std::max(1, static_cast<int>(staging_.size()) / 2); }
  /// For several threads at once. Waits for uploads where all page-locked memory is in use.
  [[nodiscard]] std::span<std::uint8_t> input(int lane);
  /// Takes back what input() gave and no frame was put in.
  void discard_input(int lane);
  /// Starts the upload of a frame, from its place or the lane's input, which then waits for submit(). At most one a lane.
  void add(int lane, const ChainFrame& frame);
  /// Hands over the frames that were added: the device gets them as soon as it needs more to do.
  void submit();
  /// Hands out the frames of batches that are done, and gives the device more to do; returns at once.
  void take_finished(std::vector<ChainResult>& finished);

 private:
  /// Frames that were added together travel together.
  struct Upload {
    Event start{Event::Timing::on};
    Event done{Event::Timing::on};
    int frames = 0;
    std::vector<std::uint8_t*> staging;  ///< that is free when they have arrived
    std::int64_t first_frame = 0;
  };
  struct Slot {
    ChainFrame frame;
    std::uint8_t* input = nullptr;  ///< on the host, until it is uploaded
    std::int64_t upload = 0;        ///< which upload brings it
  };
  struct Lane {
    DeviceLane device;
    HostLane host;
    std::vector<Slot> slots;
    // Counters of frames; a frame's slot is its count modulo kLaneDepth.
    std::int64_t added = 0;
    std::int64_t submitted = 0;
    std::int64_t launched = 0;
  };
  /// One frame of a batch.
  struct Entry {
    int lane = 0;
    int slot = 0;
  };
  /// What the device does at once.
  struct Batch {
    int turn = 0;  ///< its number modulo kBatchesInFlight, which says where its outputs are
    std::vector<Entry> entries;
    std::int64_t last_upload = 0;
    Event start{Event::Timing::on};
    Event coded{Event::Timing::on};
    Event kept;
    Event done{Event::Timing::on};
  };
  /// The work of a frame, recorded for each of the places that a lane's frames take in turn.
  struct Graphs {
    std::array<GraphExec, kLaneDepth> key;                 ///< by slot: coding
    std::vector<std::array<GraphExec, kLaneDepth>> inter;  ///< by choice of the search, and slot: search and coding
    std::array<GraphExec, kBatchesInFlight> scan;          ///< by turn: writing and download
  };

  [[nodiscard]] Upload& upload(std::int64_t number);
  /// Page-locked memory of uploads that have arrived; waits for one if there is no other. The mutex of staging is held.
  void take_back_staging();
  void copy_input(const std::uint8_t* from, std::uint8_t* to);
  /// Puts submitted frames on the device's queue, if it needs more to do. The mutex is held.
  void launch();
  void enqueue(const Batch& batch);
  /// Search and coding.
  void enqueue_coding_of(const Batch& batch);
  void record_graphs();
  /// The graph that does search and coding of a batch; none where they have to be put on the stream one by one.
  [[nodiscard]] const GraphExec* coding_graph(const Batch& batch);
  void enqueue_downloads(const Batch& batch);
  [[nodiscard]] FrameJob job_of(const Entry& entry, int turn, bool key) const;
  [[nodiscard]] bool is_key(const Entry& entry) const;
  void add_searches(const FrameJob& job, int lane);
  void download_picture(const std::uint8_t* picture, std::uint8_t* linear);
  /// What a batch's stages took, all its frames together.
  [[nodiscard]] StageTimes times_of(const Batch& batch) const;
  void trace(const Batch& batch, const StageTimes& times);
  [[nodiscard]] ChainResult finish(const Batch& batch, const Entry& entry, const StageTimes& times) const;
  [[nodiscard]] double upload_ms(const Slot& slot) const;
  [[nodiscard]] Error at_first_frame(const Error& error, const Batch& batch) const;
  void write_codes_on_host(const HostLane::Output& output, EncodedFrame& frame) const;
  void append_overflown_scan(const ScanParts& scan, std::vector<std::uint8_t>& bytes) const;

  EncoderSettings settings_;
  LaneGroupPlan plan_;
  Geometry geometry_;
  FrameLayout layout_;
  std::array<std::vector<std::uint8_t>, 2> headers_;  ///< of inter and key frames
  Stream stream_;
  Stream upload_stream_;
  Stream download_stream_{Stream::Priority::high};  ///< its few thread blocks go before those of the next batch
  std::unique_ptr<MotionSearch> search_;
  DeviceBuffer<Quantizer> quantizers_;
  DeviceBuffer<std::byte> device_memory_;
  PinnedBuffer<std::byte> host_memory_;
  std::vector<Lane> lanes_;
  std::vector<Upload> uploads_;  ///< by number, modulo how many there are
  std::int64_t upload_count_ = 0;
  CopyBatch copies_;  ///< of the upload that is being put together
  std::mutex staging_mutex_;
  std::vector<std::uint8_t*> staging_;       ///< all of it
  std::vector<std::uint8_t*> free_staging_;  ///< the last one used is taken first: it may still be in a cache
  std::int64_t landed_uploads_ = 0;          ///< whose staging is free again
  std::mutex mutex_;  ///< of what puts work on stream_: frames submitted and launched, and what a launch uses
  std::array<Batch, kBatchesInFlight> batches_;
  Graphs graphs_;
  std::atomic<bool> waiting_ = false;  ///< frames were submitted while the device had something to do
  std::atomic<std::int64_t> launched_batches_ = 0;
  std::atomic<std::int64_t> taken_batches_ = 0;
  std::vector<FrameJob> jobs_;
  std::vector<MotionJob> searches_;
  Event origin_{Event::Timing::on};  ///< a moment on the device that is known on the host's clock, for traces
  TraceSpan::Clock::time_point origin_time_;
};

}  // namespace c63::cuda
