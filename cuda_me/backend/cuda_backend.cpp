#include "cuda_me/backend/cuda_backend.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {
namespace {

Keep keep_of(const MeasurementSettings& wanted, const CudaBackendOptions& options) {
  return {.reconstruction = wanted.keep_reconstruction || compares_pictures(wanted),
          .prediction = wanted.keep_prediction,
          .original = compares_pictures(wanted),
          .motion = wanted.keep_motion,
          .host_reference = options.upload == UploadMode::pair};
}

CodingContext context_of(const ResolvedEncode& encode, const CudaBackendOptions& options) {
  return {encode, keep_of(encode.settings.measurement, options),
          options.coded_capacity > 0 ? options.coded_capacity : usual_coded_capacity(encode.geometry)};
}

std::size_t device_bytes(const CodingContext& context, int chains) {
  Carver carver;
  for (int i = 0; i < chains; ++i) DeviceChain::carve(carver, context);
  return carver.used();
}

std::size_t host_bytes(const CodingContext& context, int chains) {
  Carver carver;
  for (int i = 0; i < chains; ++i) HostChain::carve(carver, context);
  for (int i = staging_frames(context.geometry, chains); i > 0; --i) {
    carver.take<std::uint8_t>(context.geometry.frame_bytes());
  }
  return carver.used();
}

using Clock = std::chrono::steady_clock;

/// Waits a moment for a batch, after a wait of `waited`. Spins at first: any sleep takes about 60 us, which would delay a
/// single chain. Longer batches have many frames and follow each other on the device, so a sleep of an eighth of the wait
/// delays none of them.
void rest(Clock::duration waited) {
  constexpr Clock::duration kSpin = std::chrono::microseconds(500);
  constexpr Clock::duration kLongest = std::chrono::microseconds(500);
  if (waited < kSpin) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::min(waited / 8, kLongest));
  }
}

/// Allocates device memory and sets it to zero before other streams can use it.
DeviceBuffer<std::byte> make_zeroed(std::size_t bytes) {
  DeviceBuffer<std::byte> memory(bytes);
  const Stream stream;
  fill_async(memory.data(), 0, memory.bytes(), stream);
  stream.synchronize();
  return memory;
}

}  // namespace

CudaBackend::CudaBackend(const ResolvedEncode& encode, const CudaBackendOptions& options, const DeviceChoice& device,
                         int chains)
    : device_(device.index),
      context_(context_of(encode, options)),
      device_memory_(make_zeroed(device_bytes(context_, chains))),
      host_memory_(host_bytes(context_, chains)),
      chains_(static_cast<std::size_t>(chains)),
      uploads_(carve_memory(), chains_.size() * kChainDepth * 2),
      stages_(context_, options.motion_kernel, chains_, options.graphs),
      batches_(chains_, uploads_, stages_),
      results_(context_, chains_.size(), uploads_, device.index, device.trace_row, stages_.coding_stream()) {
  const DeviceInfo& gpu = require_device(device.index);
  info_.description = "cuda:" + std::to_string(device.number) + " " + gpu.name + " (sm_" +
                      std::to_string(gpu.architecture) + ")";
  info_.chains = chains;
  info_.depth = kChainDepth;
  info_.inputs = std::max(1, uploads_.staging() / 2);
  for (const Chain& chain : chains_) {
    if (!context_.lookahead.any()) break;
    source_frames_.emplace_back(context_.geometry, context_.lookahead, chain.device.source, chain.host.source);
  }
}

std::vector<std::uint8_t*> CudaBackend::carve_memory() {
  Carver device(device_memory_.data());
  Carver host(host_memory_.data());
  for (Chain& chain : chains_) {
    chain.device = DeviceChain::carve(device, context_);
    chain.host = HostChain::carve(host, context_);
  }
  std::vector<std::uint8_t*> staging(
      static_cast<std::size_t>(staging_frames(context_.geometry, static_cast<int>(chains_.size()))));
  for (std::uint8_t*& frame : staging) frame = host.take<std::uint8_t>(context_.geometry.frame_bytes());
  return staging;
}

std::span<std::uint8_t> CudaBackend::input(int number) {
  FrameSlot& slot = chain(number).next_slot();
  if (slot.staging == nullptr) slot.staging = uploads_.take_staging();
  return {slot.staging, context_.geometry.frame_bytes()};
}

void CudaBackend::discard_input(int number) {
  uploads_.give_back(std::exchange(chain(number).next_slot().staging, nullptr));
}

bool CudaBackend::accepts(std::span<const std::uint8_t> in_place) const {
  const DeviceGuard guard(device_);  // the calling thread may not have chosen a device yet
  return can_copy(device_, in_place);
}

void CudaBackend::submit(std::span<const ChainFrame> frames) {
  const DeviceGuard guard(device_);
  for (const ChainFrame& frame : frames) {
    try {
      add(frame);
    } catch (const Error& error) {
      throw error.at({.frame = frame.plan.index});
    }
  }
  uploads_.start();
  batches_.submit();
}

void CudaBackend::add(const ChainFrame& frame) {
  Chain& of = chain(frame.chain);
  const auto at = static_cast<std::size_t>(of.added % kChainDepth);
  FrameSlot& slot = of.slots[at];
  slot.role = advance(of, frame, context_.layout);
  slot.frame = frame;
  std::uint8_t* const staging = std::exchange(slot.staging, nullptr);
  slot.upload = uploads_.add_frame(frame.plan.index, staging);
  add_samples(frame.in_place.empty() ? std::span<const std::uint8_t>(staging, context_.geometry.frame_bytes()) : frame.in_place,
              !frame.in_place.empty() && device_with(frame.in_place.data()).has_value(), of.device.inputs[at].picture);
  if (slot.role.has_original) add_original(slot.frame, of.device.inputs[at].original);
  add_plan(slot, of.device.inputs[at], of.host.inputs[at]);
  ++of.added;
}

void CudaBackend::add_samples(std::span<const std::uint8_t> samples, bool on_device, std::uint8_t* picture) {
  // Planes that follow each other without a gap, both in `samples` and in `picture`, are copied together.
  const FrameLayout& layout = context_.layout;
  const std::uint8_t* from = samples.data();
  for (int p = 0; p < kPlanes;) {
    std::size_t count = layout.coded[p];
    int next = p + 1;
    while (next < kPlanes && layout.offset[next] == layout.offset[p] + count) count += layout.coded[next++];
    std::uint8_t* const to = picture + layout.offset[p];
    on_device ? uploads_.add_device_copy({to, from, count}) : uploads_.add_copy(to, from, count);
    from += count;
    p = next;
  }
}

SourceFrames* CudaBackend::source_frames(int number) {
  return source_frames_.empty() ? nullptr : &source_frames_[static_cast<std::size_t>(number)];
}

void CudaBackend::add_original(const ChainFrame& frame, std::uint8_t* picture) {
  if (frame.original == nullptr) return add_samples(frame.original_in_place, true, picture);
  if (!context_.settings.measurement.psnr) return;
  const std::vector<std::uint8_t>& samples = *frame.original;
  std::uint8_t* const staging = uploads_.take_staging();  // does not wait forever: inputs hold at most half of them
  uploads_.free_with_upload(staging);
  std::ranges::copy(samples, staging);
  add_samples({staging, samples.size()}, false, picture);
}

void CudaBackend::add_plan(FrameSlot& slot, const DeviceChain::Input& to, const HostChain::Input& from) {
  const FramePlan& plan = slot.frame.plan;
  if (slot.tables != plan.tables) {
    slot.tables = plan.tables;
    *from.quantizers = make_quantizer_table(plan.tables);
    uploads_.add_copy(to.quantizers, from.quantizers, sizeof(QuantizerTable));
  }
  if (slot.role.by_rate && slot.decision_tables != plan.tables) {
    slot.decision_tables = plan.tables;
    for (int p = 0; p < kPlanes; ++p) (*from.decision_quantizers)[p] = c63::Quantizer(plan.tables[p], p);
    uploads_.add_copy(to.decision_quantizers, from.decision_quantizers, sizeof(DecisionQuantizers));
  }
  if (slot.role.is_weighted) {
    std::ranges::copy(*plan.weights, from.weights);
    uploads_.add_copy(to.weights, from.weights, plan.weights->size());
  }
}

void CudaBackend::collect(std::vector<CodedFrame>& finished) {
  const DeviceGuard guard(device_);
  const std::size_t before = finished.size();
  const auto start = Clock::now();
  for (;;) {
    while (const Batch* const batch = batches_.finished()) {
      try {
        results_.append(*batch, finished);
      } catch (const Error& error) {
        throw batches_.at_first_frame(error, *batch);
      }
      batches_.release();
    }
    if (finished.size() > before) return;
    rest(Clock::now() - start);
  }
}

std::size_t device_bytes_per_chain(const EncoderSettings& settings, const CudaBackendOptions& options) {
  const CodingContext context = context_of(resolve(settings), options);
  const bool graphs = options.graphs && settings.execution.lanes == 1 && !context.keep.any();
  return device_bytes(context, 1) + (graphs ? kGraphBytes : 0);
}

std::size_t host_bytes_per_device(const EncoderSettings& settings, int chains, const CudaBackendOptions& options) {
  return host_bytes(context_of(resolve(settings), options), chains);
}

}  // namespace c63::cuda
