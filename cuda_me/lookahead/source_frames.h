#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "backend/source_frames.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/lookahead/source_memory.h"
#include "cuda_me/runtime/stream.h"
#include "decide/lookahead_decisions.h"
#include "decide/temporal_filter.h"

namespace c63::cuda {

/// Source frames in a device's memory, looked at there. Whoever calls waits for the device.
class CudaSourceFrames final : public SourceFrames {
 public:
  /// The device is the thread's current one; the memory is there as long as this.
  CudaSourceFrames(const Geometry& geometry, const LookaheadDecisions& decisions, const SourceMemory& memory,
                   const SourceStaging& staging);
  ~CudaSourceFrames() override;
  CudaSourceFrames(const CudaSourceFrames&) = delete;
  CudaSourceFrames& operator=(const CudaSourceFrames&) = delete;

  void begin_gop(Cost lambda) override;
  void pop_front() override;
  [[nodiscard]] std::span<std::uint8_t> input() override { return {staging_.input, geometry_.frame_bytes()}; }
  std::array<MotionTotals, 2> push() override;
  MotionTotals find_motion(int back) override;
  void predict_from(int back) override;
  void begin_look(std::size_t place) override { looking_at_ = place; }
  [[nodiscard]] LookedAt look_at(std::size_t place, std::span<std::uint8_t> input) override;
  [[nodiscard]] bool has_in_place() const override { return true; }

 private:
  /// A frame that is kept.
  struct Kept {
    std::size_t slot = 0;    ///< of its memory
    bool has_motion = false;  ///< there was a frame before it
    int back = 0;            ///< how many frames before it lies its reference; 0: it has none
  };

  [[nodiscard]] const SourceMemory::Frame& memory_of(std::size_t place) const { return memory_.frames[frames_[place].slot]; }
  /// Of one frame against another, without hints.
  [[nodiscard]] static SourceMotionJob motion_job(const SourceMemory::Frame& from, const SourceMemory::Frame& to, SourceBlock* motion);
  /// Of the newest frame against the one `back` frames before it, to be added up.
  [[nodiscard]] SourceMotionJob backward_job(int back, const SourceBlock* hints, int hint_factor, SourceBlock* motion) const;
  /// Motion of the frame at a place against the frame `ahead` places after it, if there is one.
  void add_forward_job(std::size_t place, std::size_t ahead, SourceMotionJobs& jobs) const;
  /// What was added up; waits for it.
  [[nodiscard]] std::array<MotionTotals, kMotionSums> totals();
  /// Filters the frame at a place. Its motion against the frames after it must have been found.
  void enqueue_filter(std::size_t place);
  void enqueue_weights(std::size_t place);

  int device_ = 0;
  Geometry geometry_;
  FrameLayout layout_;
  LookaheadDecisions decisions_;
  TemporalFilter filter_;
  SourceMemory memory_;
  SourceStaging staging_;
  std::deque<Kept> frames_;
  std::deque<std::size_t> free_;  ///< slots; the one that was given back first is taken first, which may still be read
  std::size_t averaged_ = 0;      ///< frames
  std::optional<std::size_t> looking_at_;  ///< a place whose frame may be filtered during the next search
  bool is_filtered_ = false;               ///< it is
  /// Little work that others wait for, before frames that are coded.
  Stream stream_{Stream::Priority::high};
};

}  // namespace c63::cuda
