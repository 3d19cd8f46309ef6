#include "cuda_me/lane_group.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "bitstream/bit_writer.h"
#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "c63/error.h"
#include "c63/quality.h"
#include "c63/trace.h"
#include "codec/search_window.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {
namespace {

using Clock = TraceSpan::Clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

LaneGroup::LaneGroup(const EncoderSettings& settings, const LaneGroupPlan& plan)
    : settings_(settings),
      plan_(plan),
      geometry_(settings.width, settings.height),
      layout_(geometry_),
      search_(make_motion_search(plan.motion_kernel)),
      quantizers_(std::tuple_size_v<QuantizerTable>),
      lanes_(plan.lanes.size()),
      uploads_(plan.lanes.size() * kLaneDepth * 2) {  // before a number comes again, what it brought is long done
  const QuantizationTables tables = make_quantization_tables(settings.qp);
  for (const bool key : {false, true}) write_frame_header(headers_[key], geometry_, tables, key);
  const QuantizerTable table = make_quantizer_table(tables);
  check(cudaMemcpy(quantizers_.data(), table.data(), quantizers_.bytes(), cudaMemcpyDefault), "upload quantizers");

  Carver device_size;
  Carver host_size;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    DeviceLane::carve(device_size, layout_, plan.keep, plan.coded_capacity);
    HostLane::carve(host_size, geometry_, layout_, plan.keep, plan.coded_capacity);
  }
  staging_.resize(static_cast<std::size_t>(staging_frames(geometry_, static_cast<int>(lanes_.size()))));
  for (std::size_t i = 0; i < staging_.size(); ++i) host_size.take<std::uint8_t>(geometry_.frame_bytes());
  device_memory_ = DeviceBuffer<std::byte>(device_size.used());
  host_memory_ = PinnedBuffer<std::byte>(host_size.used());
  fill_async(device_memory_.data(), 0, device_memory_.bytes(), stream_);
  Carver device(device_memory_.data());
  Carver host(host_memory_.data());
  for (Lane& lane : lanes_) {
    lane.device = DeviceLane::carve(device, layout_, plan.keep, plan.coded_capacity);
    lane.host = HostLane::carve(host, geometry_, layout_, plan.keep, plan.coded_capacity);
    lane.slots.resize(kLaneDepth);
  }
  for (std::uint8_t*& frame : staging_) frame = host.take<std::uint8_t>(geometry_.frame_bytes());
  free_staging_ = staging_;
  jobs_.reserve(lanes_.size());
  searches_.reserve(lanes_.size() * kPlanes);
  origin_.record(stream_);
  stream_.synchronize();
  origin_time_ = Clock::now();
}

LaneGroup::~LaneGroup() {
  // The device may still read and write the memory that goes now.
  check_release(cudaStreamSynchronize(upload_stream_), "cudaStreamSynchronize");
  check_release(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  check_release(cudaStreamSynchronize(download_stream_), "cudaStreamSynchronize");
}

std::span<std::uint8_t> LaneGroup::input(int lane) {
  Lane& l = lanes_[static_cast<std::size_t>(lane)];
  std::uint8_t*& input = l.slots[static_cast<std::size_t>(l.added % kLaneDepth)].input;
  if (input == nullptr) {
    const std::lock_guard lock(staging_mutex_);
    for (; landed_uploads_ < upload_count_; ++landed_uploads_) {
      Upload& oldest = upload(landed_uploads_);
      if (free_staging_.empty()) oldest.done.synchronize();
      if (!oldest.done.done()) break;
      free_staging_.insert(free_staging_.end(), oldest.frames.begin(), oldest.frames.end());
    }
    input = free_staging_.back();
    free_staging_.pop_back();
  }
  return {input, geometry_.frame_bytes()};
}

void LaneGroup::discard_input(int lane) {
  Lane& l = lanes_[static_cast<std::size_t>(lane)];
  const std::lock_guard lock(staging_mutex_);
  free_staging_.push_back(std::exchange(l.slots[static_cast<std::size_t>(l.added % kLaneDepth)].input, nullptr));
}

LaneGroup::Upload& LaneGroup::upload(std::int64_t number) {
  return uploads_[static_cast<std::size_t>(number) % uploads_.size()];
}

void LaneGroup::add(int lane, const LaneFrame& frame) {
  Lane& l = lanes_[static_cast<std::size_t>(lane)];
  const int slot = static_cast<int>(l.added % kLaneDepth);
  Upload& current = upload(upload_count_);
  try {
    if (current.frames.empty()) {
      current.first_frame = frame.plan.index;
      current.start.record(upload_stream_);
      copies_.clear();
    }
    copy_input(l, slot);
  } catch (const Error& error) {
    throw error.at({.frame = frame.plan.index});
  }
  Slot& used = l.slots[static_cast<std::size_t>(slot)];
  current.frames.push_back(used.input);
  used = {frame, nullptr, upload_count_};
  ++l.added;
}

void LaneGroup::copy_input(const Lane& lane, int slot_index) {
  const auto slot = static_cast<std::size_t>(slot_index);
  const std::uint8_t* from = lane.slots[slot].input;
  std::uint8_t* const to = lane.device.inputs[slot];
  // Planes that follow each other without a gap on both sides travel together.
  for (int p = 0; p < kPlanes;) {
    std::size_t count = layout_.coded[p];
    int next = p + 1;
    while (next < kPlanes && layout_.offset[next] == layout_.offset[p] + count) count += layout_.coded[next++];
    copies_.add(to + layout_.offset[p], from, count);
    from += count;
    p = next;
  }
}

void LaneGroup::submit() {
  Upload& current = upload(upload_count_);
  copies_.enqueue(upload_stream_);
  current.done.record(upload_stream_);
  upload(upload_count_ + 1).frames.clear();
  {
    const std::lock_guard lock(staging_mutex_);
    ++upload_count_;
  }
  const std::lock_guard lock(mutex_);
  for (Lane& lane : lanes_) lane.submitted = lane.added;
  launch();
}

void LaneGroup::launch() {
  for (;;) {
    const std::int64_t number = launched_batches_;
    const std::int64_t in_flight = number - taken_batches_;
    if (in_flight == kBatchesInFlight) return;
    Batch& batch = batches_[static_cast<std::size_t>(number % kBatchesInFlight)];
    batch.parity = static_cast<int>(number % kBatchesInFlight);
    batch.entries.clear();
    batch.last_upload = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Lane& lane = lanes_[i];
      if (lane.launched == lane.submitted) continue;
      const int slot = static_cast<int>(lane.launched % kLaneDepth);
      batch.entries.push_back({static_cast<int>(i), slot});
      batch.last_upload = std::max(batch.last_upload, lane.slots[static_cast<std::size_t>(slot)].upload);
    }
    if (batch.entries.empty()) return;
    // Behind a batch that still runs there is time to wait for more lanes.
    if (in_flight > 0 && batch.entries.size() * 2 < lanes_.size()) return;
    try {
      enqueue(batch);
    } catch (const Error& error) {
      throw at_first_frame(error, batch);
    }
    for (const Entry& entry : batch.entries) ++lanes_[static_cast<std::size_t>(entry.lane)].launched;
    ++launched_batches_;
  }
}

Error LaneGroup::at_first_frame(const Error& error, const Batch& batch) const {
  const Entry& first = batch.entries.front();
  const auto& slots = lanes_[static_cast<std::size_t>(first.lane)].slots;
  return error.at({.frame = slots[static_cast<std::size_t>(first.slot)].frame.plan.index});
}

FrameJob LaneGroup::job_of(const Entry& entry, int parity) {
  Lane& lane = lanes_[static_cast<std::size_t>(entry.lane)];
  const auto slot = static_cast<std::size_t>(entry.slot);
  const auto side = static_cast<std::size_t>(parity);
  const HostLane::Output& output = lane.host.outputs[side];
  const auto reconstruction = static_cast<std::size_t>(lane.reconstruction);
  lane.reconstruction = 1 - lane.reconstruction;
  return {.current = lane.device.inputs[slot],
          .reference = lane.slots[slot].frame.plan.key ? nullptr : lane.device.pictures[1 - reconstruction],
          .reconstruction = lane.device.pictures[reconstruction],
          .prediction = lane.device.prediction,
          .vectors = lane.device.vectors,
          .sads = lane.device.sads,
          .levels = lane.device.levels,
          .scan = lane.device.scans[side],
          .state = lane.device.state,
          .coded = output.coded,
          .coded_capacity = plan_.coded_capacity,
          .report = output.report};
}

void LaneGroup::enqueue(const Batch& batch) {
  const Range range("batch");
  jobs_.clear();
  for (const Entry& entry : batch.entries) jobs_.push_back(job_of(entry, batch.parity));
  stream_.wait(upload(batch.last_upload).done);  // and with it all uploads before
  batch.start.record(stream_);
  enqueue_search(batch);
  batch.searched.record(stream_);
  if (plan_.keep.levels) {
    enqueue_levels(layout_, quantizers_.data(), jobs_, stream_);
    batch.coded.record(stream_);
  } else {
    enqueue_coding(layout_, quantizers_.data(), jobs_, stream_);
    batch.coded.record(stream_);
    enqueue_scan_writing(layout_, jobs_, stream_);
  }
  batch.written.record(stream_);
  // The bytes go out beside the next batch's work; whatever else is wanted goes before that work overwrites it.
  download_stream_.wait(batch.written);
  if (!plan_.keep.levels) enqueue_scan_download(jobs_, download_stream_);
  if (plan_.keep.any()) {
    enqueue_downloads(batch);
    batch.kept.record(stream_);
    download_stream_.wait(batch.kept);
  }
  batch.done.record(download_stream_);
}

void LaneGroup::enqueue_search(const Batch& batch) {
  searches_.clear();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const FrameJob& job = jobs_[i];
    if (job.reference == nullptr) continue;
    const Lane& lane = lanes_[static_cast<std::size_t>(batch.entries[i].lane)];
    if (plan_.keep.host_reference) {
      copy_async(const_cast<std::uint8_t*>(job.reference), static_cast<const std::uint8_t*>(lane.host.reference),
                 layout_.picture_bytes, stream_);
    }
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry plane = geometry_.plane(p);
      searches_.push_back({.current = job.current + layout_.offset[p],
                           .reference = job.reference + layout_.offset[p],
                           .current_pitch = plane.width,
                           .reference_pitch = plane.width,
                           .width = plane.width,
                           .height = plane.height,
                           .range = plane_search_range(settings_.search_range, p),
                           .vectors = lane.device.vectors + layout_.first_block[p],
                           .sads = lane.device.sads + layout_.first_block[p]});
    }
  }
  if (!searches_.empty()) search_->enqueue(searches_, stream_);
}

void LaneGroup::download_picture(const std::uint8_t* picture, std::uint8_t* linear) {
  for (int p = 0; p < kPlanes; ++p) {
    copy_async(linear, picture + layout_.offset[p], layout_.coded[p], stream_);
    linear += layout_.coded[p];
  }
}

void LaneGroup::enqueue_downloads(const Batch& batch) {
  const auto blocks = static_cast<std::size_t>(layout_.blocks);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const FrameJob& job = jobs_[i];
    const HostLane& host = lanes_[static_cast<std::size_t>(batch.entries[i].lane)].host;
    const HostLane::Output& output = host.outputs[static_cast<std::size_t>(batch.parity)];
    if (output.reconstruction != nullptr) download_picture(job.reconstruction, output.reconstruction);
    if (output.prediction != nullptr) download_picture(job.prediction, output.prediction);
    if (output.original != nullptr) download_picture(job.current, output.original);
    if (output.vectors != nullptr) copy_async(output.vectors, job.vectors, blocks, stream_);
    if (output.sads != nullptr) copy_async(output.sads, job.sads, blocks, stream_);
    if (output.levels != nullptr) {
      copy_async(output.levels, static_cast<const std::int16_t*>(job.levels), blocks * 64, stream_);
    }
    if (host.reference != nullptr) {
      copy_async(host.reference, static_cast<const std::uint8_t*>(job.reconstruction), layout_.picture_bytes, stream_);
    }
  }
}

void LaneGroup::take_finished(std::deque<LaneResult>& finished) {
  while (taken_batches_ < launched_batches_) {
    const Batch& batch = batches_[static_cast<std::size_t>(taken_batches_ % kBatchesInFlight)];
    try {
      if (!batch.done.done()) return;
      const StageTimes times = times_of(batch);
      if (settings_.trace != nullptr) trace(batch);
      // Copying a batch's bytes takes one thread as long as the device takes to code them.
      std::vector<LaneResult> results(batch.entries.size());
      oneapi::tbb::parallel_for(std::size_t{0}, results.size(), [&](std::size_t i) {
        const DeviceGuard guard(plan_.device);
        results[i] = finish(batch, batch.entries[i], times);
      });
      std::ranges::move(results, std::back_inserter(finished));
    } catch (const Error& error) {
      throw at_first_frame(error, batch);
    }
    const std::lock_guard lock(mutex_);
    ++taken_batches_;
    launch();
  }
}

LaneResult LaneGroup::finish(const Batch& batch, const Entry& entry, const StageTimes& times) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(entry.lane)];
  const auto slot = static_cast<std::size_t>(entry.slot);
  const auto side = static_cast<std::size_t>(batch.parity);
  const HostLane::Output& output = lane.host.outputs[side];
  const FrameReport& report = *output.report;
  const LaneFrame& planned = lane.slots[slot].frame;

  LaneResult result{plan_.lanes[static_cast<std::size_t>(entry.lane)], {}};
  EncodedFrame& frame = result.frame;
  frame.index = planned.plan.index;
  frame.key = planned.plan.key;
  FrameStatistics& statistics = frame.statistics;
  for (int p = 0; p < kPlanes; ++p) statistics.sse[p] = settings_.measure_psnr ? report.totals.sse[p] : 0;
  statistics.luma_sad = report.totals.luma_sad;
  statistics.times = times;
  statistics.times.read = planned.read_ms;
  statistics.times.upload = upload_ms(lane.slots[slot]);

  const std::vector<std::uint8_t>& header = headers_[frame.key];
  std::vector<std::uint8_t>& bytes = frame.bytes;
  BitCounts& bits = statistics.bits;
  if (plan_.keep.levels) {
    bytes = header;
    write_codes_on_host(output, frame);
  } else {
    bytes.reserve(header.size() + report.scan_bytes + kFrameTrailerBytes);
    bytes.insert(bytes.end(), header.begin(), header.end());
    if (report.scan_bytes <= plan_.coded_capacity) {
      bytes.insert(bytes.end(), output.coded, output.coded + report.scan_bytes);
    } else {
      append_overflown_scan(lane.device.scans[side], bytes);
    }
    bits.motion = report.totals.motion_bits;
    bits.luma = report.totals.luma_bits;
    bits.chroma = report.totals.chroma_bits;
    const std::uint64_t written = 8 * report.scan_bytes;
    bits.header = written > report.scan_bits ? written - report.scan_bits : 0;  // the flush may lose up to seven bits
  }
  write_frame_trailer(bytes);
  bits.header += 8 * (kFrameHeaderBytes + kFrameTrailerBytes);

  const std::size_t frame_bytes = geometry_.frame_bytes();
  if (settings_.measure_ssim) {
    const auto start = Clock::now();
    statistics.ssim = ssim_of_frames({output.original, frame_bytes}, {output.reconstruction, frame_bytes},
                                     geometry_.width(), geometry_.height());
    statistics.times.measure = milliseconds_since(start);
  }
  if (settings_.keep_reconstruction) {
    frame.reconstruction.assign(output.reconstruction, output.reconstruction + frame_bytes);
  }
  if (settings_.keep_prediction) frame.prediction.assign(output.prediction, output.prediction + frame_bytes);
  if (settings_.keep_motion && !frame.key) {
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry plane = geometry_.plane(p);
      const MotionVector* const vectors = output.vectors + layout_.first_block[p];
      const std::uint16_t* const sads = output.sads + layout_.first_block[p];
      frame.motion[p] = {plane.columns, plane.rows, {vectors, vectors + plane.blocks()}, {sads, sads + plane.blocks()}};
    }
  }
  return result;
}

void LaneGroup::write_codes_on_host(const HostLane::Output& output, EncodedFrame& frame) const {
  const auto start = Clock::now();
  FrameSymbols symbols(geometry_);
  symbols.key = frame.key;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSymbols& plane = symbols.planes[p];
    const auto first = static_cast<std::size_t>(layout_.first_block[p]);
    std::copy_n(output.levels + first * 64, plane.levels.size(), plane.levels.begin());
    if (frame.key) continue;
    std::copy_n(output.vectors + first, plane.vectors.size(), plane.vectors.begin());
    std::ranges::fill(plane.uses_vector, std::uint8_t{1});
  }
  encode_scan(symbols, frame.bytes, frame.statistics.bits);
  frame.statistics.times.entropy = milliseconds_since(start);
}

void LaneGroup::append_overflown_scan(const ScanParts& scan, std::vector<std::uint8_t>& bytes) const {
  const auto segments = static_cast<std::size_t>(layout_.segments);
  std::vector<std::uint32_t> bits(segments);
  std::vector<std::uint32_t> words(segments * kMaxSegmentWords);
  check(cudaMemcpy(bits.data(), scan.bits, segments * sizeof(std::uint32_t), cudaMemcpyDefault), "download scan");
  check(cudaMemcpy(words.data(), scan.words, words.size() * sizeof(std::uint32_t), cudaMemcpyDefault), "download scan");
  BitWriter writer(bytes);
  for (std::size_t s = 0; s < segments; ++s) {
    const std::uint32_t* word = words.data() + s * kMaxSegmentWords;
    writer.reserve(bits[s]);
    for (int left = static_cast<int>(bits[s]); left > 0; left -= 32, ++word) {
      writer.put(left >= 32 ? *word : *word >> (32 - left), std::min(left, 32));
    }
  }
  writer.finish();
}

double LaneGroup::upload_ms(const Slot& slot) const {
  const Upload& upload = uploads_[static_cast<std::size_t>(slot.upload) % uploads_.size()];
  return upload.done.milliseconds_since(upload.start) / static_cast<double>(upload.frames.size());
}

StageTimes LaneGroup::times_of(const Batch& batch) const {
  const auto frames = static_cast<double>(batch.entries.size());
  StageTimes times;
  times.motion = batch.searched.milliseconds_since(batch.start) / frames;
  times.transform = batch.coded.milliseconds_since(batch.searched) / frames;
  times.entropy = batch.written.milliseconds_since(batch.coded) / frames;
  times.download = batch.done.milliseconds_since(batch.written) / frames;
  return times;
}

void LaneGroup::trace(const Batch& batch) {
  const auto span = [&](const char* name, int row, const Event& start, const Event& end, std::int64_t index) {
    const auto at = [&](const Event& event) {
      return origin_time_ + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double, std::milli>(event.milliseconds_since(origin_)));
    };
    settings_.trace->span({name, TraceTrack::device, row, index, at(start), at(end)});
  };
  const int row = plan_.stream_index * 3;
  for (const Entry& entry : batch.entries) {
    const Slot& slot = lanes_[static_cast<std::size_t>(entry.lane)].slots[static_cast<std::size_t>(entry.slot)];
    const Upload& brought = upload(slot.upload);
    if (brought.first_frame != slot.frame.plan.index) continue;
    span("upload", row, brought.start, brought.done, brought.first_frame);
  }
  span("motion", row + 1, batch.start, batch.searched, -1);
  span("transform", row + 1, batch.searched, batch.coded, -1);
  if (!plan_.keep.levels) span("entropy", row + 1, batch.coded, batch.written, -1);
  span("download", row + 2, batch.written, batch.done, -1);
}

}  // namespace c63::cuda
