#include "cuda_me/backend/frame_results.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>

#include "bitstream/bit_writer.h"
#include "bitstream/frame_header.h"
#include "c63/user_search.h"
#include "c63/quality.h"
#include "c63/thread_pool.h"
#include "cuda_me/kernels/rate_frame.h"
#include "cuda_me/runtime/check.h"
#include "decide/vectors.h"

namespace c63::cuda {
namespace {

double milliseconds_since(TraceSpan::Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(TraceSpan::Clock::now() - start).count();
}

/// Returns one flag per block of a plane; 1: the block is coded without a vector. Empty for a key frame, and for a
/// frame that is not decided by rate, because all its blocks have a vector.
std::span<const std::uint8_t> mask_of(const FramePlan& plan, const HostChain::Output& output, const FrameLayout& layout,
                                      int plane, int blocks) {
  if (plan.key || !plan.rate.any()) return {};
  return {output.decided + layout.first_block[plane], static_cast<std::size_t>(blocks)};
}

}  // namespace

const std::vector<std::uint8_t>& HeaderWriter::header_of(const FramePlan& plan, const Geometry& geometry) {
  if (bytes_.empty() || key_ != plan.key || headers_ != plan.headers || tables_ != plan.tables) {
    key_ = plan.key;
    headers_ = plan.headers;
    tables_ = plan.tables;
    bytes_.clear();
    write_frame_header(bytes_, geometry, tables_, key_, headers_);
  }
  return bytes_;
}

FrameResults::FrameResults(const CodingContext& context, std::size_t chains, const UploadQueue& uploads, int device,
                           int trace_row, const Stream& stream)
    : context_(context),
      uploads_(uploads),
      device_(device),
      trace_row_(trace_row),
      headers_(chains) {
  origin_.record(stream);
  stream.synchronize();
  origin_time_ = Clock::now();
}

void FrameResults::append(const Batch& batch, std::vector<CodedFrame>& finished) {
  const StageTimes times = times_of(batch);
  if (context_.settings.measurement.trace != nullptr) trace(batch, times);
  std::vector<CodedFrame> results(batch.entries.size());
  // Results are divided among threads only if their frames have more than this many bytes (before coding). With large
  // frames, a single thread would take as long to copy a batch's coded bytes as the device takes to code it. With small
  // frames, waking other threads would take longer than copying.
  constexpr std::size_t kBytesOfFrames = 1 << 20;
  const std::size_t grain = std::max<std::size_t>(1, kBytesOfFrames / context_.geometry.frame_bytes());
  context_.settings.execution.pool->execute([&] {
    parallel_ranges(results.size(), grain, [&](std::size_t begin, std::size_t end) {
      const DeviceGuard guard(device_);
      for (std::size_t i = begin; i < end; ++i) results[i] = finish(batch, batch.entries[i], times);
    });
  });
  std::ranges::move(results, std::back_inserter(finished));
}

CodedFrame FrameResults::finish(const Batch& batch, const BatchEntry& entry, const StageTimes& times) {
  const HostChain::Output& output = output_of(batch, entry);
  const FrameSlot& slot = entry.frame();
  const FramePlan& plan = slot.frame.plan;
  const MeasurementSettings& wanted = context_.settings.measurement;

  if (output.report->wrong_vector != 0) throw wrong_vector_error(output.report->wrong_vector, plan.index);

  CodedFrame result{.chain = entry.number, .frame = {}, .ready = slot.frame.ready};
  EncodedFrame& frame = result.frame;
  frame.index = plan.index;
  frame.key = plan.key;
  frame.repeat = output.report->repeats != 0;
  FrameStatistics& statistics = frame.statistics;
  for (int p = 0; p < kPlanes; ++p) statistics.sse[p] = wanted.psnr ? output.report->totals.sse[p] : 0;
  statistics.luma_sad = frame.repeat ? 0 : output.report->totals.luma_sad;
  statistics.times = slot.frame.times;
  const auto frames = static_cast<double>(batch.entries.size());
  for (const auto stage : {&StageTimes::motion, &StageTimes::transform, &StageTimes::entropy, &StageTimes::download}) {
    statistics.times.*stage = times.*stage / frames;
  }
  statistics.times.upload = uploads_.upload(slot.upload).milliseconds_a_frame();
  write_bytes(batch, entry, frame);

  const std::size_t frame_bytes = context_.geometry.frame_bytes();
  if (compares_pictures(wanted)) {
    const auto start = Clock::now();
    const std::uint8_t* const original = slot.frame.original != nullptr ? slot.frame.original->data() : output.original;
    compare_pictures({original, frame_bytes}, {output.reconstruction, frame_bytes}, context_.settings, statistics);
    statistics.times.measure = milliseconds_since(start);
  }
  if (wanted.keep_reconstruction) frame.reconstruction.assign(output.reconstruction, output.reconstruction + frame_bytes);
  if (wanted.keep_prediction) frame.prediction.assign(output.prediction, output.prediction + frame_bytes);
  if (wanted.keep_motion && !frame.key && !frame.repeat) copy_motion(plan, output, frame);
  return result;
}

Error FrameResults::wrong_vector_error(unsigned long long wrong, std::int64_t frame) const {
  const FrameLayout& layout = context_.layout;
  const int block = block_of_wrong_vector(wrong);
  const int p = block >= layout.first_block[2] ? 2 : block >= layout.first_block[1] ? 1 : 0;
  const PlaneGeometry plane = context_.geometry.plane(p);
  const int index = block - layout.first_block[p];
  const CodingSettings& coding = context_.settings.coding;
  return user_vector_error(coding.user_search->name, p, index % plane.columns, index / plane.columns, plane.width, plane.height,
                          plane_search_range(coding.search_range, p), vector_of_wrong_vector(wrong))
      .at({.frame = frame});
}

void FrameResults::write_bytes(const Batch& batch, const BatchEntry& entry, EncodedFrame& frame) {
  if (frame.repeat) {
    write_repeat_frame(frame.bytes);
    frame.statistics.bits.header = 8 * kRepeatFrameBytes;
    return;
  }
  const FramePlan& plan = entry.frame().frame.plan;
  const HostChain::Output& output = output_of(batch, entry);
  const FrameReport& report = *output.report;
  const std::vector<std::uint8_t>& header =
      headers_[static_cast<std::size_t>(entry.number)].header_of(plan, context_.geometry);
  std::vector<std::uint8_t>& bytes = frame.bytes;
  BitCounts& bits = frame.statistics.bits;
  bytes.reserve(header.size() + report.scan_bytes + kFrameTrailerBytes);
  bytes.insert(bytes.end(), header.begin(), header.end());
  if (report.scan_bytes <= context_.coded_capacity) {
    bytes.insert(bytes.end(), output.coded, output.coded + report.scan_bytes);
  } else {
    append_overflown_scan(entry.chain->device.scans[batch.outputs], bytes);
  }
  bits.motion = report.totals.motion_bits;
  bits.luma = report.totals.luma_bits;
  bits.chroma = report.totals.chroma_bits;
  const std::uint64_t written = 8 * report.scan_bytes;
  // Bits of the scan that are not codes count as header: stuffing and padding. The scan may be up to seven bits shorter
  // than its codes, because the flush can drop an unfinished byte.
  bits.header = written > report.scan_bits ? written - report.scan_bits : 0;
  write_frame_trailer(bytes);
  bits.header += 8 * (header.size() + kFrameTrailerBytes);
}

void FrameResults::append_overflown_scan(const ScanParts& scan, std::vector<std::uint8_t>& bytes) const {
  const auto segments = static_cast<std::size_t>(context_.layout.segments);
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

void FrameResults::copy_motion(const FramePlan& plan, const HostChain::Output& output, EncodedFrame& frame) const {
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry plane = context_.geometry.plane(p);
    const MotionVector* const vectors = output.vectors + context_.layout.first_block[p];
    const std::uint16_t* const sads = output.sads + context_.layout.first_block[p];
    MotionField& field = frame.motion[p];
    field = {plane.columns, plane.rows, {vectors, vectors + plane.blocks()}, {sads, sads + plane.blocks()}};
    const auto mask = mask_of(plan, output, context_.layout, p, plane.blocks());
    if (!mask.empty()) field.inter.assign(mask.size(), 1);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == 0) continue;
      if (field.vectors[i] != no_vector()) continue;  // predicted with an inherited vector
      field.vectors[i] = {};
      field.inter[i] = 0;
    }
  }
}

StageTimes FrameResults::times_of(const Batch& batch) const {
  // Events give the times when a batch's search began, and when its coding and downloads ended. The kernels themselves
  // report when coding began, and from when to when the scans were written. More events, between the kernels, would
  // make a chain of small frames a fifth slower.
  constexpr auto kNever = std::numeric_limits<unsigned long long>::max();
  FrameMoments moments{.coding_starts = kNever, .writing_starts = kNever};
  unsigned long long writing_ends = 0;
  for (const BatchEntry& entry : batch.entries) {
    const FrameReport& report = *output_of(batch, entry).report;
    moments.coding_starts = std::min(moments.coding_starts, report.moments.coding_starts);
    moments.coding_ends = std::max(moments.coding_ends, report.moments.coding_ends);
    moments.writing_starts = std::min(moments.writing_starts, report.moments.writing_starts);
    writing_ends = std::max(writing_ends, report.writing_ends);
  }
  const auto milliseconds = [](unsigned long long from, unsigned long long to) {
    return to > from ? static_cast<double>(to - from) * 1e-6 : 0.0;
  };
  const double coded = batch.coded.milliseconds_since(batch.start);
  const double done = batch.done.milliseconds_since(batch.coded);
  StageTimes times;
  times.transform = std::min(coded, milliseconds(moments.coding_starts, moments.coding_ends));
  times.motion = coded - times.transform;
  times.entropy = std::min(done, milliseconds(moments.writing_starts, writing_ends));
  times.download = done - times.entropy;
  return times;
}

void FrameResults::trace(const Batch& batch, const StageTimes& times) const {
  using Time = Clock::time_point;
  const auto duration = [](double ms) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
  };
  const auto at = [&](const Event& event) { return origin_time_ + duration(event.milliseconds_since(origin_)); };
  const auto span = [&](const char* name, int row, Time start, Time end, std::int64_t index) {
    context_.settings.measurement.trace->span({name, TraceTrack::device, row, index, start, end});
  };
  for (const BatchEntry& entry : batch.entries) {
    const FrameSlot& slot = entry.frame();
    const Upload& brought = uploads_.upload(slot.upload);
    if (brought.first_frame != slot.frame.plan.index) continue;
    span("upload", trace_row_, at(brought.start), at(brought.done), brought.first_frame);
  }
  const Time start = at(batch.start);
  const Time searched = start + duration(times.motion);
  const Time coded = at(batch.coded);
  const Time written = coded + duration(times.entropy);
  span("motion", trace_row_ + 1, start, searched, -1);
  span("transform", trace_row_ + 1, searched, coded, -1);
  span("entropy", trace_row_ + 2, coded, written, -1);
  span("download", trace_row_ + 2, written, at(batch.done), -1);
}

}  // namespace c63::cuda
