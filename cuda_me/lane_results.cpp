// What becomes of a batch that is done: frames for whoever collects them, times, spans of a trace.

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "bitstream/bit_writer.h"
#include "bitstream/block_order.h"
#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "c63/quality.h"
#include "cuda_me/lane_group.h"

namespace c63::cuda {
namespace {

using Clock = TraceSpan::Clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

ChainResult LaneGroup::finish(const Batch& batch, const Entry& entry, const StageTimes& times) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(entry.lane)];
  const auto slot = static_cast<std::size_t>(entry.slot);
  const auto side = static_cast<std::size_t>(batch.turn);
  const HostLane::Output& output = lane.host.outputs[side];
  const FrameReport& report = *output.report;
  const ChainFrame& planned = lane.slots[slot].frame;

  ChainResult result{plan_.lanes[static_cast<std::size_t>(entry.lane)], {}};
  EncodedFrame& frame = result.frame;
  frame.index = planned.plan.index;
  frame.key = planned.plan.key;
  FrameStatistics& statistics = frame.statistics;
  for (int p = 0; p < kPlanes; ++p) statistics.sse[p] = settings_.measurement.psnr ? report.totals.sse[p] : 0;
  statistics.luma_sad = report.totals.luma_sad;
  const auto frames = static_cast<double>(batch.entries.size());
  for (const auto stage : {&StageTimes::motion, &StageTimes::transform, &StageTimes::entropy, &StageTimes::download}) {
    statistics.times.*stage = times.*stage / frames;
  }
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
  if (settings_.measurement.ssim) {
    const auto start = Clock::now();
    statistics.ssim = ssim_of_frames({output.original, frame_bytes}, {output.reconstruction, frame_bytes},
                                     geometry_.width(), geometry_.height());
    statistics.times.measure = milliseconds_since(start);
  }
  if (settings_.measurement.keep_reconstruction) {
    frame.reconstruction.assign(output.reconstruction, output.reconstruction + frame_bytes);
  }
  if (settings_.measurement.keep_prediction) frame.prediction.assign(output.prediction, output.prediction + frame_bytes);
  if (settings_.measurement.keep_motion && !frame.key) {
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
  FrameSyntax syntax(geometry_);
  syntax.key = frame.key;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& plane = syntax.planes[p];
    const auto first = static_cast<std::size_t>(layout_.first_block[p]);
    if (frame.key) continue;
    std::copy_n(output.vectors + first, plane.vectors.size(), plane.vectors.begin());
    std::ranges::fill(plane.uses_vector, std::uint8_t{1});
  }
  const std::int16_t* levels = output.levels;
  for_each_block_in_coding_order(geometry_, [&](int p, int block, int /*column*/) {
    std::copy_n(levels, 64, syntax.planes[static_cast<std::size_t>(p)].block(block));
    levels += 64;
  });
  encode_scan(syntax, frame.bytes, frame.statistics.bits);
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
  return upload.done.milliseconds_since(upload.start) / static_cast<double>(upload.frames);
}

StageTimes LaneGroup::times_of(const Batch& batch) const {
  // Events say when a batch's coding and downloads ended; when coding began and writing took place in between, the kernels
  // say themselves: events between the kernels take a lane of small frames a fifth of its speed.
  constexpr auto kNever = std::numeric_limits<unsigned long long>::max();
  FrameMoments moments{.coding_starts = kNever, .writing_starts = kNever};
  unsigned long long writing_ends = 0;
  for (const Entry& entry : batch.entries) {
    const Lane& lane = lanes_[static_cast<std::size_t>(entry.lane)];
    const FrameReport& report = *lane.host.outputs[static_cast<std::size_t>(batch.turn)].report;
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
  if (!plan_.keep.levels) {
    times.entropy = std::min(done, milliseconds(moments.writing_starts, writing_ends));
  }
  times.download = done - times.entropy;
  return times;
}

void LaneGroup::trace(const Batch& batch, const StageTimes& times) {
  using Time = Clock::time_point;
  const auto duration = [](double ms) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
  };
  const auto at = [&](const Event& event) { return origin_time_ + duration(event.milliseconds_since(origin_)); };
  const auto span = [&](const char* name, int row, Time start, Time end, std::int64_t index) {
    settings_.measurement.trace->span({name, TraceTrack::device, row, index, start, end});
  };
  const int row = plan_.stream_index * 3;
  for (const Entry& entry : batch.entries) {
    const Slot& slot = lanes_[static_cast<std::size_t>(entry.lane)].slots[static_cast<std::size_t>(entry.slot)];
    const Upload& brought = upload(slot.upload);
    if (brought.first_frame != slot.frame.plan.index) continue;
    span("upload", row, at(brought.start), at(brought.done), brought.first_frame);
  }
  const Time start = at(batch.start);
  const Time searched = start + duration(times.motion);
  const Time coded = at(batch.coded);
  const Time written = coded + duration(times.entropy);
  span("motion", row + 1, start, searched, -1);
  span("transform", row + 1, searched, coded, -1);
  if (!plan_.keep.levels) span("entropy", row + 2, coded, written, -1);
  span("download", row + 2, written, at(batch.done), -1);
}

}  // namespace c63::cuda
