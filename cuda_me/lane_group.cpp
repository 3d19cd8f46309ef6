#include "cuda_me/lane_group.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "bitstream/frame_header.h"
#include "c63/error.h"
#include "codec/search_window.h"
#include "cuda_me/runtime/device_guard.h"
#include "cuda_me/runtime/range.h"

namespace c63::cuda {

LaneGroup::LaneGroup(const EncoderSettings& settings, const LaneGroupPlan& plan)
    : settings_(settings),
      plan_(plan),
      geometry_(settings.coding.width, settings.coding.height),
      layout_(geometry_),
      search_(make_motion_search(plan.motion_kernel)),
      quantizers_(std::tuple_size_v<QuantizerTable>),
      lanes_(plan.lanes.size()),
      uploads_(plan.lanes.size() * kLaneDepth * 2) {  // before a number comes again, what it brought is long done
  const QuantizationTables tables = make_quantization_tables(settings.coding.qp);
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
  if (plan.graphs && lanes_.size() == 1 && !plan.keep.any()) record_graphs();
  origin_.record(stream_);
  stream_.synchronize();
  origin_time_ = TraceSpan::Clock::now();
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
    take_back_staging();
    input = free_staging_.back();
    free_staging_.pop_back();
  }
  return {input, geometry_.frame_bytes()};
}

void LaneGroup::take_back_staging() {
  for (; landed_uploads_ < upload_count_; ++landed_uploads_) {
    Upload& oldest = upload(landed_uploads_);
    if (free_staging_.empty()) oldest.done.synchronize();
    if (!oldest.done.done()) break;
    free_staging_.insert(free_staging_.end(), oldest.staging.begin(), oldest.staging.end());
    oldest.staging.clear();
  }
}

void LaneGroup::discard_input(int lane) {
  Lane& l = lanes_[static_cast<std::size_t>(lane)];
  const std::lock_guard lock(staging_mutex_);
  free_staging_.push_back(std::exchange(l.slots[static_cast<std::size_t>(l.added % kLaneDepth)].input, nullptr));
}

LaneGroup::Upload& LaneGroup::upload(std::int64_t number) {
  return uploads_[static_cast<std::size_t>(number) % uploads_.size()];
}

void LaneGroup::add(int lane, const ChainFrame& frame) {
  Lane& l = lanes_[static_cast<std::size_t>(lane)];
  const int slot = static_cast<int>(l.added % kLaneDepth);
  Slot& used = l.slots[static_cast<std::size_t>(slot)];
  Upload& current = upload(upload_count_);
  try {
    if (copies_.empty()) {
      current.first_frame = frame.plan.index;
      current.frames = 0;
      current.start.record(upload_stream_);
    }
    copy_input(frame.in_place.empty() ? used.input : frame.in_place.data(), l.device.inputs[static_cast<std::size_t>(slot)]);
  } catch (const Error& error) {
    throw error.at({.frame = frame.plan.index});
  }
  ++current.frames;
  if (frame.in_place.empty()) current.staging.push_back(used.input);
  used = {frame, nullptr, upload_count_};
  ++l.added;
}

void LaneGroup::copy_input(const std::uint8_t* from, std::uint8_t* to) {
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
  copies_.clear();
  current.done.record(upload_stream_);
  {
    const std::lock_guard lock(staging_mutex_);
    ++upload_count_;
    // Frames in place need no input(), which does it otherwise.
    if (upload_count_ - landed_uploads_ == static_cast<std::int64_t>(uploads_.size())) take_back_staging();
  }
  const std::lock_guard lock(mutex_);
  for (Lane& lane : lanes_) lane.submitted = lane.added;
  if (launched_batches_ == taken_batches_) {
    launch();
  } else {
    waiting_ = true;
  }
}

void LaneGroup::launch() {
  for (;;) {
    const std::int64_t number = launched_batches_;
    const std::int64_t in_flight = number - taken_batches_;
    if (in_flight == kBatchesInFlight) return;
    waiting_ = false;
    Batch& batch = batches_[static_cast<std::size_t>(number % kBatchesInFlight)];
    batch.turn = static_cast<int>(number % kBatchesInFlight);
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

bool LaneGroup::is_key(const Entry& entry) const {
  return lanes_[static_cast<std::size_t>(entry.lane)].slots[static_cast<std::size_t>(entry.slot)].frame.plan.key;
}

FrameJob LaneGroup::job_of(const Entry& entry, int turn, bool key) const {
  static_assert(kLaneDepth % 2 == 0 && kLaneDepth % kBatchesInFlight == 0);  // a slot has its place in every rotation
  const Lane& lane = lanes_[static_cast<std::size_t>(entry.lane)];
  const auto slot = static_cast<std::size_t>(entry.slot);
  const auto side = static_cast<std::size_t>(turn);
  const HostLane::Output& output = lane.host.outputs[side];
  const std::size_t reconstruction = slot % 2;
  return {.current = lane.device.inputs[slot],
          .reference = key ? nullptr : lane.device.pictures[1 - reconstruction],
          .reconstruction = lane.device.pictures[reconstruction],
          .prediction = lane.device.prediction,
          .quantizers = quantizers_.data(),
          .vectors = lane.device.vectors,
          .sads = lane.device.sads,
          .scan = lane.device.scans[side],
          .state = lane.device.states[side],
          .coded = output.coded,
          .coded_capacity = plan_.coded_capacity,
          .report = output.report};
}

void LaneGroup::add_searches(const FrameJob& job, int lane) {
  const DeviceLane& device = lanes_[static_cast<std::size_t>(lane)].device;
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = geometry_.plane(p);
    searches_.push_back({.current = job.current + layout_.offset[p],
                         .reference = job.reference + layout_.offset[p],
                         .current_pitch = plane.width,
                         .reference_pitch = plane.width,
                         .width = plane.width,
                         .height = plane.height,
                         .range = plane_search_range(settings_.coding.search_range, p),
                         .vectors = device.vectors + layout_.first_block[p],
                         .sads = device.sads + layout_.first_block[p]});
  }
}

void LaneGroup::record_graphs() {
  const auto make = [](const Stream& stream, auto&& work) {
    GraphExec graph(Graph::capture(stream, work));
    graph.upload(stream);
    return graph;
  };
  graphs_.inter.resize(static_cast<std::size_t>(search_->choices()));
  for (int slot = 0; slot < kLaneDepth; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    const int turn = slot % kBatchesInFlight;  // of one lane, every batch has one frame
    const std::array key{job_of({0, slot}, turn, true)};
    const std::array inter{job_of({0, slot}, turn, false)};
    searches_.clear();
    add_searches(inter[0], 0);
    graphs_.key[at] = make(stream_, [&] { enqueue_coding(layout_, key, stream_); });
    for (int choice = 0; choice < search_->choices(); ++choice) {
      graphs_.inter[static_cast<std::size_t>(choice)][at] = make(stream_, [&] {
        search_->enqueue_choice(choice, searches_, stream_);
        enqueue_coding(layout_, inter, stream_);
      });
    }
    if (slot >= kBatchesInFlight) continue;
    graphs_.scan[at] = make(download_stream_, [&] {
      enqueue_scan_writing(layout_, inter, download_stream_);
      enqueue_scan_download(inter, download_stream_);
    });
  }
}

const GraphExec* LaneGroup::coding_graph(const Batch& batch) {
  if (graphs_.inter.empty()) return nullptr;
  const auto slot = static_cast<std::size_t>(batch.entries[0].slot);
  if (is_key(batch.entries[0])) return &graphs_.key[slot];
  const std::optional<int> choice = search_->next_choice();
  return choice ? &graphs_.inter[static_cast<std::size_t>(*choice)][slot] : nullptr;
}

void LaneGroup::enqueue(const Batch& batch) {
  const Range range("batch");
  stream_.wait(upload(batch.last_upload).done);  // and with it all uploads before
  batch.start.record(stream_);
  if (const GraphExec* const graph = coding_graph(batch)) {
    graph->launch(stream_);
  } else {
    enqueue_coding_of(batch);
  }
  batch.coded.record(stream_);
  // The scan is written and goes out beside the next batch's work; whatever else is wanted goes before that work
  // overwrites it.
  download_stream_.wait(batch.coded);
  if (const GraphExec& graph = graphs_.scan[static_cast<std::size_t>(batch.turn)]; !graph.empty()) {
    graph.launch(download_stream_);
  } else if (!plan_.keep.levels) {
    enqueue_scan_writing(layout_, jobs_, download_stream_);
    enqueue_scan_download(jobs_, download_stream_);
  }
  if (plan_.keep.any()) {
    enqueue_downloads(batch);
    batch.kept.record(stream_);
    download_stream_.wait(batch.kept);
  }
  batch.done.record(download_stream_);
}

void LaneGroup::enqueue_coding_of(const Batch& batch) {
  jobs_.clear();
  searches_.clear();
  for (const Entry& entry : batch.entries) {
    const FrameJob& job = jobs_.emplace_back(job_of(entry, batch.turn, is_key(entry)));
    if (job.reference == nullptr) continue;
    add_searches(job, entry.lane);
    if (plan_.keep.host_reference) {
      const HostLane& host = lanes_[static_cast<std::size_t>(entry.lane)].host;
      copy_async(const_cast<std::uint8_t*>(job.reference), static_cast<const std::uint8_t*>(host.reference),
                 layout_.picture_bytes, stream_);
    }
  }
  if (!searches_.empty()) search_->enqueue(searches_, stream_);
  if (plan_.keep.levels) {
    enqueue_transform(layout_, jobs_, stream_);
    enqueue_report(jobs_, stream_);
  } else {
    enqueue_coding(layout_, jobs_, stream_);
  }
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
    const HostLane::Output& output = host.outputs[static_cast<std::size_t>(batch.turn)];
    if (output.reconstruction != nullptr) download_picture(job.reconstruction, output.reconstruction);
    if (output.prediction != nullptr) download_picture(job.prediction, output.prediction);
    if (output.original != nullptr) download_picture(job.current, output.original);
    if (output.vectors != nullptr) copy_async(output.vectors, static_cast<const MotionVector*>(job.vectors), blocks, stream_);
    if (output.sads != nullptr) copy_async(output.sads, job.sads, blocks, stream_);
    if (output.levels != nullptr) {
      pack_rows_async(output.levels, job.scan.words, kMaxSegmentWords * sizeof(std::uint32_t), kSegmentLevels,
                      static_cast<std::size_t>(layout_.segments), stream_);
    }
    if (host.reference != nullptr) {
      copy_async(host.reference, static_cast<const std::uint8_t*>(job.reconstruction), layout_.picture_bytes, stream_);
    }
  }
}

void LaneGroup::take_finished(std::vector<ChainResult>& finished) {
  if (waiting_ && launched_batches_ - taken_batches_ < kBatchesInFlight) {
    const std::lock_guard lock(mutex_);
    launch();
  }
  while (taken_batches_ < launched_batches_) {
    const Batch& batch = batches_[static_cast<std::size_t>(taken_batches_ % kBatchesInFlight)];
    try {
      if (!batch.done.done()) return;
      const StageTimes times = times_of(batch);
      if (settings_.measurement.trace != nullptr) trace(batch, times);
      std::vector<ChainResult> results(batch.entries.size());
      // Copying the bytes of a batch of large frames takes one thread as long as the device takes to code them; waking others for
      // small ones takes longer.
      constexpr std::size_t kBytesOfFrames = 1 << 20;
      const std::size_t grain = plan_.keep.levels ? 1 : std::max<std::size_t>(1, kBytesOfFrames / geometry_.frame_bytes());
      oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, results.size(), grain), [&](const auto& some) {
        const DeviceGuard guard(plan_.device);
        for (std::size_t i = some.begin(); i < some.end(); ++i) results[i] = finish(batch, batch.entries[i], times);
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

}  // namespace c63::cuda
