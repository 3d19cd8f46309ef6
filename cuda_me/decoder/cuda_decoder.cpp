#include "cuda_me/decoder/cuda_decoder.h"

#include <algorithm>
#include <utility>

#include "c63/cuda/decoder.h"
#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/runtime/check.h"

namespace c63::cuda {
namespace {

constexpr int kMostGroups = 4;  // with two more streams, fewer than a device's queues, so no stream waits for another
constexpr int kMostFramesOfGroup = 192;
constexpr int kMostSlots = 32;
/// The decoder keeps three pictures in addition to those that are being downloaded: the last restored frame, its
/// reference, and the frame that is restored next.
constexpr int kKeptPictures = 3;

/// Calls `work`. If it throws an Error, adds the frame's number to it.
template <typename Work>
decltype(auto) at_frame(const StreamFrame& frame, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw error.at({.frame = frame.index});
  }
}

}  // namespace

std::optional<DecoderRoom> DecoderRoom::within(std::uint64_t max_memory, const Geometry& geometry) {
  const FrameLayout layout(geometry);
  const auto blocks = static_cast<std::uint64_t>(layout.blocks);
  const std::uint64_t syntax = blocks * (64 * sizeof(std::int16_t) + sizeof(PackedVector));
  const std::uint64_t picture = layout.picture_bytes + blocks * sizeof(PackedVector);
  const std::uint64_t slot = picture + geometry.frame_bytes();
  DecoderRoom room;
  // A quarter of the memory is for scans. It has a part for each group on the device, and two parts in page-locked
  // memory, through which the scans are uploaded.
  room.scan_bytes = max_memory / 4 / (kMostGroups + 2);
  std::uint64_t left = max_memory / 4 * 3;
  if (left < kKeptPictures * picture + slot + syntax) return std::nullopt;
  left -= kKeptPictures * picture;
  room.slots = static_cast<int>(std::clamp<std::uint64_t>(left / 4 / slot, 1, kMostSlots));
  left -= static_cast<std::uint64_t>(room.slots) * slot;
  const std::uint64_t frames = std::max<std::uint64_t>(1, left / syntax);
  room.groups = static_cast<int>(std::min<std::uint64_t>(frames, kMostGroups));
  room.frames = static_cast<int>(std::min<std::uint64_t>(frames / static_cast<unsigned>(room.groups), kMostFramesOfGroup));
  return room;
}

CudaDecoder::Memory::Memory(const Geometry& of_pictures, const DecoderRoom& with_room)
    : geometry(of_pictures), layout(geometry), room(with_room), tables(1) {
  const ScanTables host_tables;
  copy_async(tables.data(), &host_tables, 1, restoring);
  const ScanShape shape(geometry);
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  while (groups.size() < static_cast<std::size_t>(room.groups)) groups.emplace_back(shape, blocks, room.frames);
  while (pictures.size() < static_cast<std::size_t>(room.slots + kKeptPictures)) {
    Picture& picture = pictures.emplace_back();
    picture.samples = DeviceBuffer<std::uint8_t>(layout.picture_bytes);
    picture.vectors = DeviceBuffer<PackedVector>(blocks);
    // Kernels read whole words of samples. These may extend past a plane's end, so all bytes are initialized.
    fill_async(picture.samples.data(), 0, picture.samples.bytes(), restoring);
  }
  while (slots.size() < static_cast<std::size_t>(room.slots)) {
    slots.emplace_back().frame = PinnedBuffer<std::uint8_t>(geometry.frame_bytes());
  }
  restoring.synchronize();  // `host_tables` is destroyed after this, and groups use other streams
}

CudaDecoder::CudaDecoder(int device, std::string description) : device_(device), description_(std::move(description)) {}

CudaDecoder::~CudaDecoder() {
  clear();
  try {
    const DeviceGuard guard(device_);
    memory_.reset();
  } catch (const Error&) {  // a failed device cannot release memory
  }
}

void CudaDecoder::open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) {
  clear();
  parallel_for_ = std::move(parallel_for);
  max_memory = max_memory / 4 * 3;  // a quarter of the limit is for coded frames
  if (memory_ && memory_->geometry == geometry && max_memory_ == max_memory) return;
  const DeviceGuard guard(device_);
  memory_.reset();
  max_memory_ = max_memory;
  for (std::uint64_t memory = max_memory;; memory /= 2) {
    const std::optional<DecoderRoom> room = DecoderRoom::within(memory, geometry);
    if (!room) {
      const std::string size = std::to_string(geometry.width()) + "x" + std::to_string(geometry.height());
      if (memory == max_memory) {
        throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                    "decoding " + size + " on a GPU takes more than " + std::to_string(max_memory) +
                        " bytes, the limit (three quarters of --max-memory)",
                    {.frame = 0});
      }
      throw Error(ErrorKind::device, "C63-CUDA-MEMORY", "decoding " + size + " does not fit in the GPU's memory");
    }
    try {
      memory_ = std::make_unique<Memory>(geometry, *room);
      return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
    }
  }
}

bool CudaDecoder::has_room() const {
  // Repeat frames are in no group, so the groups do not limit their number. This limit counts all frames.
  const auto most = static_cast<std::size_t>(2 * memory_->room.groups * memory_->room.frames);
  return frames_.size() < most && coded_bytes_ < max_memory_ / 3 && !memory_->groups[filling_].is_parsing();
}

void CudaDecoder::submit(StreamFrame&& coded, std::int64_t count, bool wanted) {
  Frame& added = frames_.emplace_back();
  static_cast<FrameInfo&>(added.output.view) = coded.info();
  added.output.count = count;
  added.output.wanted = wanted;
  added.coded = std::move(coded);
  coded_bytes_ += added.coded.bytes.size();
  if (added.coded.parsed.repeat) return;
  at_frame(added.coded, [&] {
    const DeviceGuard guard(device_);
    ScanGroup& group = memory_->groups[filling_];
    added.group = &group;
    added.number = group.add(added.coded.parsed);
    if (group.is_full() || group.bytes() >= memory_->room.scan_bytes) parse_filling();
  });
}

/// Starts to parse the group to which frames are being added. The next frames are added to the next group.
void CudaDecoder::parse_filling() {
  memory_->groups[filling_].parse(memory_->tables.data(), memory_->stagings[staging_], parallel_for_);
  staging_ = (staging_ + 1) % memory_->stagings.size();
  filling_ = (filling_ + 1) % memory_->groups.size();
}

/// Restores the next frames in order, as long as they are parsed and a slot is free for them. Stops at an invalid
/// frame.
void CudaDecoder::restore_parsed() {
  while (!stopped_ && restored_ < frames_.size() && restore(frames_[restored_])) ++restored_;
}

/// Restores a frame. Returns false if the frame is not parsed yet, or if it is wanted and no slot is free. An invalid
/// frame is not restored, but marked, and `stopped_` is set.
bool CudaDecoder::restore(Frame& frame) {
  if (frame.group != nullptr) {
    if (!frame.group->is_parsed()) return false;
    if (!frame.group->is_fine(frame.number)) {
      frame.is_valid = false;
      stopped_ = true;
      return true;
    }
  }
  if (frame.output.wanted) {
    const auto slot = std::ranges::find(memory_->slots, false, &Slot::taken);
    if (slot == memory_->slots.end()) return false;
    slot->taken = true;
    frame.slot = &*slot;
  }
  if (frame.group != nullptr) {
    RestoreJob job = frame.group->job(frame.number);
    if (frame.coded.parsed.advances_reference) {
      hold(reference_, frame.coded.parsed.key ? nullptr : current_);
    } else {
      job.inherited = current_->vectors.data();
    }
    Picture& picture = *std::ranges::find(memory_->pictures, 0, &Picture::users);
    if (reference_ != nullptr) job.reference = reference_->samples.data();
    job.picture = picture.samples.data();
    job.used_vectors = picture.vectors.data();
    enqueue_restoring(memory_->layout, job, memory_->restoring);
    hold(current_, &picture);
    if (frame.number + 1 == frame.group->size()) frame.group->release(memory_->restoring);
  }
  if (frame.output.wanted) download(frame);
  return true;
}

/// Starts to copy the current picture to the frame's slot.
void CudaDecoder::download(Frame& frame) {
  hold(frame.picture, current_);
  Slot& slot = *frame.slot;
  slot.restored.record(memory_->restoring);
  memory_->downloading.wait(slot.restored);
  std::uint8_t* to = slot.frame.data();
  copies_.clear();
  for (int p = 0; p < kPlanes; ++p) {
    const std::size_t count = memory_->layout.coded[p];
    copies_.add(to, current_->samples.data() + memory_->layout.offset[p], count);
    frame.output.view.picture[p] = {to, count};
    to += count;
  }
  copies_.enqueue(memory_->downloading);
  slot.downloaded.record(memory_->downloading);
}

void CudaDecoder::hold(Picture*& place, Picture* picture) {
  if (picture != nullptr) ++picture->users;
  if (place != nullptr) --place->users;
  place = picture;
}

bool CudaDecoder::is_ready() {
  const Frame& frame = frames_.front();
  return at_frame(frame.coded, [&] {
    const DeviceGuard guard(device_);
    restore_parsed();
    return restored_ > 0 && (frame.slot == nullptr || frame.slot->downloaded.done());
  });
}

const DecodeOutput& CudaDecoder::front() {
  const Frame& frame = frames_.front();
  at_frame(frame.coded, [&] {
    const DeviceGuard guard(device_);
    restore_parsed();
    if (restored_ == 0) {
      if (!frame.group->is_parsing()) parse_filling();
      frame.group->wait();
      restore_parsed();
    }
    if (frame.slot != nullptr) frame.slot->downloaded.synchronize();
  });
  if (!frame.is_valid) frame.coded.throw_scan_error();
  return frame.output;
}

std::vector<std::uint8_t> CudaDecoder::pop() {
  Frame& frame = frames_.front();
  hold(frame.picture, nullptr);
  if (frame.slot != nullptr) frame.slot->taken = false;
  std::vector<std::uint8_t> bytes = std::move(frame.coded.bytes);
  coded_bytes_ -= bytes.size();
  frames_.pop_front();
  --restored_;
  return bytes;
}

void CudaDecoder::clear() noexcept {
  if (memory_) {
    try {
      const DeviceGuard guard(device_);
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    } catch (const Error&) {  // the next call to the device reports it
    }
    for (ScanGroup& group : memory_->groups) group.clear();
    for (Picture& picture : memory_->pictures) picture.users = 0;
    for (Slot& slot : memory_->slots) slot.taken = false;
  }
  frames_.clear();
  coded_bytes_ = 0;
  restored_ = filling_ = 0;
  stopped_ = false;
  current_ = reference_ = nullptr;
}

std::shared_ptr<DecodeBackend> open_decoder(const CudaDecoderOptions& options) {
  const DeviceInfo& gpu = require_device(options.device);
  return std::make_shared<CudaDecoder>(
      options.device, "cuda:" + std::to_string(options.number < 0 ? options.device : options.number) + " " + gpu.name + " (sm_" +
                          std::to_string(gpu.architecture) + ")");
}

}  // namespace c63::cuda
