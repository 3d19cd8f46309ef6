#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "backend/source_frames.h"
#include "codec/geometry.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/lookahead/lookahead_kernels.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"
#include "decide/presets.h"
#include "decide/temporal_filter.h"

namespace c63::cuda {

/// The number of MotionSums. They are for motion relative to three frames: the previous one, the one before it, and one
/// further back.
inline constexpr std::size_t kMotionSums = 3;

/// A chain's device arrays for looking ahead. Empty without look-ahead. All are set to zero at first: only the coded
/// samples of a plane are written, and the samples after them must be zero.
struct SourceMemory {
  struct Frame {
    std::uint8_t* linear = nullptr;          ///< the frame without padding
    std::uint8_t* picture = nullptr;         ///< the same samples as a picture (FrameLayout)
    std::array<SourceBlock*, 2> backward{};  ///< motion relative to the previous frame and the one before it
    PassedError* flow = nullptr;  ///< the errors that its blocks inherit from its reference; one per luma block
  };
  std::vector<Frame> frames;
  std::vector<std::uint8_t*> averaged;               ///< filtered frames, without padding
  SourceBlock* further = nullptr;                    ///< motion of the newest frame relative to one further back
  std::array<SourceBlock*, kFilterReach> forward{};  ///< motion of a frame to filter, relative to the later frames
  std::uint32_t* importances = nullptr;              ///< see PropagationJob
  Weight* weights = nullptr;                         ///< one for each MCU
  MotionSums* sums = nullptr;                        ///< kMotionSums

  /// Lays out the arrays. A frame that look_at() returned does not change until look_at() has returned `kept` later
  /// frames.
  static SourceMemory carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions, int kept);
};

/// The page-locked host memory through which data is copied to and from the arrays of SourceMemory.
struct SourceStaging {
  std::uint8_t* input = nullptr;  ///< a frame without padding
  Weight* weights = nullptr;
  MotionSums* sums = nullptr;

  static SourceStaging carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions);
};

/// Source frames in a device's memory. The device does all work on their samples. push(), find_motion() and look_at()
/// wait until it is done.
class CudaSourceFrames final : public SourceFrames {
 public:
  /// Uses the thread's current device. The arrays of `memory` and `staging` must outlive this object.
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
  void begin_look(std::size_t index) override { looking_at_ = index; }
  [[nodiscard]] PreparedFrame look_at(std::size_t index, bool plain, std::span<std::uint8_t> input) override;
  [[nodiscard]] bool has_in_place() const override { return true; }

 private:
  /// A frame that the device keeps, from push() to pop_front().
  struct Kept {
    std::size_t slot = 0;  ///< index in SourceMemory::frames
    int back = 0;          ///< distance to the reference in frames; 0: no reference, so it is the first of its GOP
  };

  [[nodiscard]] const SourceMemory::Frame& memory_of(std::size_t index) const { return memory_.frames[frames_[index].slot]; }
  /// Returns a job that finds the motion of frame `from` relative to frame `to`, without hints.
  [[nodiscard]] static SourceMotionJob motion_job(const SourceMemory::Frame& from, const SourceMemory::Frame& to, SourceBlock* motion);
  /// Returns a job that finds the motion of the newest frame relative to the one `back` frames before it. The job also
  /// adds up the errors of the frame's blocks (MotionSums).
  [[nodiscard]] SourceMotionJob backward_job(int back, const SourceBlock* hints, int hint_factor, SourceBlock* motion) const;
  /// Adds a job that finds the motion of the frame at `index` relative to the frame that is `ahead` frames later. Adds
  /// nothing if there is no such frame.
  void add_forward_job(std::size_t index, std::size_t ahead, SourceMotionJobs& jobs) const;
  /// Downloads the sums of the newest frame's motion, waits for them, and returns them.
  [[nodiscard]] std::array<MotionTotals, kMotionSums> totals();
  /// Filters the frame at `index`. Its motion relative to the later frames must have been found.
  void enqueue_filter(std::size_t index);
  void enqueue_weights(std::size_t index);

  int device_ = current_device();
  Geometry geometry_;
  FrameLayout layout_;
  LookaheadDecisions decisions_;
  TemporalFilter filter_;
  SourceMemory memory_;
  SourceStaging staging_;
  std::deque<Kept> frames_;
  std::deque<std::size_t> free_;  ///< unused slots, oldest first, because the newest may still be read
  std::size_t averaged_ = 0;      ///< number of filtered frames
  std::optional<std::size_t> looking_at_;  ///< index of the frame that may be filtered during the next search
  bool is_filtered_ = false;               ///< that frame has been filtered
  /// High priority: this work is short, and the host waits for its results. So it goes before the coding of other
  /// frames.
  Stream stream_{Stream::Priority::high};
};

}  // namespace c63::cuda
