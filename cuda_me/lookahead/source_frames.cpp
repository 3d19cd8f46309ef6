#include "cuda_me/lookahead/source_frames.h"

#include <memory>

#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"
#include "decide/reference_choice.h"

namespace c63::cuda {

SourceMemory SourceMemory::carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions, int kept) {
  SourceMemory memory;
  if (!decisions.any()) return memory;
  const FrameLayout layout(geometry);
  const auto blocks = static_cast<std::size_t>(geometry.plane(0).blocks());
  const auto take_motion = [&] { return carver.take<SourceBlock>(blocks + 1); };
  memory.frames.resize(static_cast<std::size_t>(decisions.frames_kept() + kept));
  for (Frame& frame : memory.frames) {
    frame.linear = carver.take<std::uint8_t>(geometry.frame_bytes());
    frame.picture = carver.take<std::uint8_t>(layout.picture_bytes);
    for (SourceBlock*& motion : frame.backward) motion = take_motion();
    if (decisions.propagate) frame.flow = carver.take<PassedError>(blocks);
  }
  memory.further = take_motion();
  memory.sums = carver.take<MotionSums>(kMotionSums);
  if (decisions.filter) {
    for (SourceBlock*& motion : memory.forward) motion = take_motion();
    memory.averaged.resize(static_cast<std::size_t>(kept));
    for (std::uint8_t*& frame : memory.averaged) frame = carver.take<std::uint8_t>(geometry.frame_bytes());
  }
  if (decisions.propagate) {
    memory.importances = carver.take<std::uint32_t>(kPropagationArrays * blocks);
    memory.weights = carver.take<Weight>(static_cast<std::size_t>(geometry.mcus()));
  }
  return memory;
}

SourceStaging SourceStaging::carve(Carver& carver, const Geometry& geometry, const LookaheadDecisions& decisions) {
  SourceStaging staging;
  if (!decisions.any()) return staging;
  staging.input = carver.take<std::uint8_t>(geometry.frame_bytes());
  staging.weights = carver.take<Weight>(static_cast<std::size_t>(geometry.mcus()));
  staging.sums = carver.take<MotionSums>(kMotionSums);
  return staging;
}

CudaSourceFrames::CudaSourceFrames(const Geometry& geometry, const LookaheadDecisions& decisions, const SourceMemory& memory,
                                   const SourceStaging& staging)
    : geometry_(geometry), layout_(geometry), decisions_(decisions), filter_(decisions.lambda), memory_(memory), staging_(staging) {
  for (std::size_t slot = 0; slot < memory_.frames.size(); ++slot) free_.push_back(slot);
}

CudaSourceFrames::~CudaSourceFrames() {
  // Waits, because the device may still use the memory that is freed after this.
  drop_error(cudaStreamSynchronize(stream_));
}

void CudaSourceFrames::begin_gop(Cost lambda) {
  looking_at_.reset();
  is_filtered_ = false;
  while (!frames_.empty()) pop_front();
  decisions_.lambda = lambda;
  filter_ = TemporalFilter(lambda);
}

void CudaSourceFrames::pop_front() {
  free_.push_back(frames_.front().slot);
  frames_.pop_front();
}

std::array<MotionTotals, 2> CudaSourceFrames::push() {
  const DeviceGuard guard(device_);
  frames_.push_back({.slot = free_.front()});
  free_.pop_front();
  const std::size_t newest = frames_.size() - 1;
  const SourceMemory::Frame& own = memory_of(newest);
  copy_async(own.linear, staging_.input, geometry_.frame_bytes(), stream_);
  const std::uint8_t* linear = own.linear;
  for (int p = 0; p < kPlanes; ++p) {
    copy_async(own.picture + layout_.offset[p], linear, layout_.coded[p], stream_);
    linear += layout_.coded[p];
  }
  fill_async(memory_.sums, 0, kMotionSums * sizeof(MotionSums), stream_);
  // Two searches run at the same time if possible. A single search leaves most of the device idle, because each block
  // waits for the results of its neighbours.
  const bool filters = decisions_.filter && looking_at_ && !is_filtered_;
  for (std::size_t distance = 1; distance <= 2; ++distance) {
    SourceMotionJobs jobs;
    const int back = static_cast<int>(distance);
    const SourceBlock* const hints = distance == 2                                 ? own.backward[0]
                                     : newest >= 1 && frames_[newest - 1].back > 0 ? memory_of(newest - 1).backward[0]
                                                                                   : nullptr;
    if (newest >= distance) jobs.add(backward_job(back, hints, back, own.backward[distance - 1]));
    if (filters) add_forward_job(*looking_at_, distance, jobs);
    enqueue_source_motion(layout_, jobs, stream_);
  }
  if (filters) enqueue_filter(*looking_at_);
  const auto sums = totals();
  return {sums[0], sums[1]};
}

MotionTotals CudaSourceFrames::find_motion(int back) {
  const DeviceGuard guard(device_);
  SourceMotionJobs jobs;
  jobs.add(backward_job(back, memory_of(frames_.size() - 1).backward[0], back, memory_.further));
  enqueue_source_motion(layout_, jobs, stream_);
  return totals()[2];
}

SourceMotionJob CudaSourceFrames::motion_job(const SourceMemory::Frame& from, const SourceMemory::Frame& to, SourceBlock* motion) {
  SourceMotionJob job;
  job.current = from.picture;
  job.reference = to.picture;
  job.motion = motion;
  return job;
}

SourceMotionJob CudaSourceFrames::backward_job(int back, const SourceBlock* hints, int hint_factor, SourceBlock* motion) const {
  const std::size_t newest = frames_.size() - 1;
  SourceMotionJob job = motion_job(memory_of(newest), memory_of(newest - static_cast<std::size_t>(back)), motion);
  job.hints = hints;
  job.hint_factor = hint_factor;
  job.sums = memory_.sums + (back == 1 ? 0 : back == 2 ? 1 : 2);
  job.least = least_coded_error(decisions_.lambda);
  return job;
}

void CudaSourceFrames::add_forward_job(std::size_t index, std::size_t ahead, SourceMotionJobs& jobs) const {
  if (index + ahead >= frames_.size()) return;
  const SourceMemory::Frame& other = memory_of(index + ahead);
  SourceMotionJob job = motion_job(memory_of(index), other, memory_.forward[ahead - 1]);
  job.hints = ahead == 1 ? other.backward[0] : memory_.forward[0];
  job.hint_factor = ahead == 1 ? -1 : 2;
  jobs.add(job);
}

std::array<MotionTotals, kMotionSums> CudaSourceFrames::totals() {
  copy_async(staging_.sums, memory_.sums, kMotionSums, stream_);
  stream_.synchronize();
  std::array<MotionTotals, kMotionSums> all;
  const auto blocks = static_cast<std::uint64_t>(geometry_.plane(0).blocks());
  for (std::size_t i = 0; i < kMotionSums; ++i) {
    const bool found = frames_.size() > i + 1;
    all[i] = {staging_.sums[i].logarithms, staging_.sums[i].squared_error, found ? blocks : 0};
  }
  return all;
}

void CudaSourceFrames::predict_from(int back) {
  frames_.back().back = back;
  if (!decisions_.propagate || back == 0) return;
  const DeviceGuard guard(device_);
  const SourceMemory::Frame& own = memory_of(frames_.size() - 1);
  const SourceBlock* const motion = back <= 2 ? own.backward[static_cast<std::size_t>(back - 1)] : memory_.further;
  enqueue_error_flow(motion, geometry_.plane(0).blocks(), decisions_.lambda, own.flow, stream_);
}

PreparedFrame CudaSourceFrames::look_at(std::size_t index, bool plain, std::span<std::uint8_t> /*input*/) {
  const DeviceGuard guard(device_);
  const bool weighs = decisions_.propagate && !plain;
  const bool filters = decisions_.filter && !plain;
  if (weighs) enqueue_weights(index);
  if (filters && !is_filtered_) {
    for (std::size_t ahead = 1; ahead <= kFilterReach; ++ahead) {
      SourceMotionJobs jobs;
      add_forward_job(index, ahead, jobs);
      enqueue_source_motion(layout_, jobs, stream_);
    }
    enqueue_filter(index);
  }
  stream_.synchronize();
  looking_at_.reset();
  is_filtered_ = false;
  PreparedFrame looked;
  looked.in_place = {memory_of(index).linear, geometry_.frame_bytes()};
  if (filters) {
    looked.original_in_place = looked.in_place;
    looked.in_place = {memory_.averaged[averaged_ % memory_.averaged.size()], geometry_.frame_bytes()};
    ++averaged_;
  }
  if (weighs) {
    looked.weights = std::make_shared<const FrameWeights>(staging_.weights, staging_.weights + geometry_.mcus());
  }
  return looked;
}

void CudaSourceFrames::enqueue_filter(std::size_t index) {
  const SourceMemory::Frame& own = memory_of(index);
  FilterJob job;
  job.current = own.picture;
  job.averaged = memory_.averaged[averaged_ % memory_.averaged.size()];
  const auto add = [&](const SourceMemory::Frame& other, const SourceBlock* motion, std::size_t distance) {
    job.neighbours[static_cast<std::size_t>(job.count++)] = {other.picture, motion, static_cast<int>(distance)};
  };
  for (std::size_t back = 1; back <= kFilterReach && back <= index; ++back) add(memory_of(index - back), own.backward[back - 1], back);
  for (std::size_t ahead = 1; ahead <= kFilterReach && index + ahead < frames_.size(); ++ahead) {
    add(memory_of(index + ahead), memory_.forward[ahead - 1], ahead);
  }
  enqueue_temporal_filter(layout_, filter_, job, stream_);
  is_filtered_ = true;
}

void CudaSourceFrames::enqueue_weights(std::size_t index) {
  PropagationJob job;
  job.importances = memory_.importances;
  job.weights = memory_.weights;
  for (std::size_t i = index + 1; i < frames_.size(); ++i) {
    job.later[static_cast<std::size_t>(job.count++)] = {memory_of(i).flow, frames_[i].back};
  }
  enqueue_propagated_weights(layout_, job, stream_);
  copy_async(staging_.weights, memory_.weights, static_cast<std::size_t>(geometry_.mcus()), stream_);
}

}  // namespace c63::cuda
