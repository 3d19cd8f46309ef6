#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "c63/trace.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/lane_memory.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "pipeline/backend.h"

namespace c63::cuda {

/// What a group of lanes is made with.
struct LaneGroupPlan {
  int device = 0;
  int stream_index = 0;    ///< for traces
  std::vector<int> lanes;  ///< the backend's numbers of the group's lanes
  MotionKernel motion_kernel = MotionKernel::automatic;
  Keep keep;
  std::size_t coded_capacity = 0;
};

/// Lanes of one device whose frames share launches. Frames that wait when the device is about to run dry are taken as
/// one batch, at most one of each lane, so batches are small while the device is idle and grow as it falls behind.
class LaneGroup {
 public:
  LaneGroup(const EncoderSettings& settings, const LaneGroupPlan& plan);
  ~LaneGroup();
  LaneGroup(const LaneGroup&) = delete;
  LaneGroup& operator=(const LaneGroup&) = delete;

  /// Lanes are the group's own numbers, from 0, in all of these.
  [[nodiscard]] std::span<std::uint8_t> input(int lane) const;
  /// Starts the upload of a frame; its work waits for launch().
  void submit(int lane, const LaneFrame& frame);
  /// Puts waiting frames on the device's queue, if it needs more to do.
  void launch();
  /// Hands out the frames of batches that are done; returns at once.
  void take_finished(std::deque<LaneResult>& finished);

 private:
  struct Slot {
    LaneFrame frame;
    Event upload_start{Event::Timing::on};
    Event uploaded{Event::Timing::on};
  };
  struct Lane {
    DeviceLane device;
    HostLane host;
    std::vector<Slot> slots;
    int reconstruction = 0;  ///< index in device.pictures of the next one to be written
    // Counters of frames; a frame's slot is its count modulo kLaneDepth.
    std::int64_t submitted = 0;
    std::int64_t launched = 0;
  };
  /// One frame of a batch.
  struct Entry {
    int lane = 0;
    int slot = 0;
  };
  struct Batch {
    int parity = 0;
    std::vector<Entry> entries;
  };
  /// Events of a batch by parity.
  struct Marks {
    Event start{Event::Timing::on};
    Event searched{Event::Timing::on};
    Event coded{Event::Timing::on};
    Event written{Event::Timing::on};
    Event kept;
    Event done{Event::Timing::on};
  };

  void upload(const Lane& lane, int slot);
  void enqueue(const Batch& batch);
  void enqueue_search(const Batch& batch);
  void enqueue_downloads(const Batch& batch);
  [[nodiscard]] FrameJob job_of(const Entry& entry, int parity);
  void download_picture(const std::uint8_t* picture, std::uint8_t* linear);
  [[nodiscard]] LaneResult finish(const Batch& batch, const Entry& entry) const;
  void write_codes_on_host(const HostLane::Output& output, EncodedFrame& frame) const;
  void append_overflown_scan(const ScanParts& scan, std::vector<std::uint8_t>& bytes) const;
  void report_times(const Batch& batch, const Entry& entry, EncodedFrame& frame) const;

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
  std::deque<Batch> batches_;  ///< on the device's queue, oldest first
  std::int64_t batch_count_ = 0;
  std::array<Marks, kBatchesInFlight> marks_;
  std::vector<FrameJob> jobs_;
  std::vector<MotionJob> searches_;
  Event origin_{Event::Timing::on};  ///< a moment on the device that is known on the host's clock, for traces
  TraceSpan::Clock::time_point origin_time_;
};

}  // namespace c63::cuda
