#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/decode_backend.h"
#include "bitstream/bit_reader.h"
#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "bitstream/scan_parser.h"
#include "bitstream/stream_frame.h"
#include "cpu/frame_coder.h"
#include "cpu/block_prediction.h"
#include "cpu/kernels.h"
#include "support/guarded_buffer.h"

namespace c63::test {

/// Decodes a scan with the GPU's entropy decoder. Returns false if the scan is invalid, or if something outside the
/// frame's memory was written. Before that, levels are set to zero, as on a device. Vectors are filled with 0x5A,
/// because all of them must be written.
inline bool parse_on_host(const Geometry& geometry, bool key, std::span<const std::uint8_t> stuffed, FrameSyntax& syntax) {
  static const ScanTables kTables;
  const ScanShape shape(geometry);
  const auto blocks = static_cast<std::size_t>(geometry.blocks());
  GuardedBuffer<std::int16_t> levels(blocks * 64);
  std::ranges::fill(levels.span(), std::int16_t{0});
  GuardedBuffer<PackedVector> vectors(blocks, 0x5A);
  // This buffer has exactly the bytes that the decoder may read. So a sanitizer finds reads past its end.
  std::vector<std::uint8_t> bytes;
  const std::size_t size = remove_stuffing(stuffed, bytes).size();
  bytes.resize(size + zeros_after_scan(size));
  bytes.shrink_to_fit();
  if (!parse_scan(kTables, shape, key, bytes.data(), size, {levels.data(), vectors.data()})) return false;
  if (!levels.guards_intact() || !vectors.guards_intact()) return false;
  syntax = FrameSyntax(geometry);
  syntax.key = key;
  for (int p = 0; p < kPlanes; ++p) {
    PlaneSyntax& plane = syntax.planes[p];
    const auto first = static_cast<std::size_t>(shape.first_block[p]);
    std::copy_n(levels.data() + first * 64, plane.levels.size(), plane.levels.begin());
    for (std::size_t block = 0; block < plane.vectors.size(); ++block) {
      const PackedVector vector = vectors.data()[first + block];
      plane.uses_vector[block] = vector == kWithoutVector ? 0 : 1;
      plane.vectors[block] = plane.uses_vector[block] != 0 ? unpack_vector(vector) : MotionVector{};
    }
  }
  return true;
}

/// A decoding device that runs on the host, one frame at a time. It holds up to `room` frames. It decodes a frame only
/// when the caller waits for it, so is_ready() is false until then. It finds frame `rejected` invalid, whatever it holds,
/// and loses frame `lost`.
class HostDecodeBackend final : public DecodeBackend {
 public:
  explicit HostDecodeBackend(std::size_t room = 5, std::int64_t rejected = -1, std::int64_t lost = -1)
      : room_(room), rejected_(rejected), lost_(lost) {}

  [[nodiscard]] const std::string& description() const override { return description_; }
  void open(const Geometry& geometry, std::uint64_t, ParallelFor) override {
    clear();
    geometry_ = geometry;
    ++opened_;
  }
  [[nodiscard]] bool has_room() const override { return frames_.size() < room_; }
  void submit(StreamFrame&& coded, std::int64_t count, bool wanted) override {
    if (coded.index == lost_) return;
    Frame& frame = frames_.emplace_back();
    static_cast<FrameInfo&>(frame.output.view) = coded.info();
    frame.output.count = count;
    frame.output.wanted = wanted;
    frame.coded = std::move(coded);
  }
  [[nodiscard]] bool empty() const override { return frames_.empty(); }
  [[nodiscard]] bool is_ready() override { return frames_.front().done; }
  [[nodiscard]] const DecodeOutput& front() override {
    Frame& frame = frames_.front();
    if (!frame.done) decode(frame);
    return frame.output;
  }
  std::vector<std::uint8_t> pop() override {
    std::vector<std::uint8_t> bytes = std::move(frames_.front().coded.bytes);
    frames_.pop_front();
    return bytes;
  }
  void clear() noexcept override { frames_.clear(); }

  [[nodiscard]] int opened() const { return opened_; }

 private:
  struct Frame {
    StreamFrame coded;
    DecodeOutput output;
    std::vector<std::uint8_t> samples;
    bool done = false;
  };

  void decode(Frame& frame) {
    frame.done = true;
    const ParsedFrame& coded = frame.coded.parsed;
    if (!coded.repeat) {
      FrameSyntax syntax;
      const bool is_valid = parse_on_host(geometry_, coded.key, coded.scan, syntax) && frame.coded.index != rejected_;
      if (!is_valid) frame.coded.throw_scan_error();
      if (coded.advances_reference) reference_ = current_;
      if (vectors_.plane(0).vectors.empty()) vectors_ = PredictionVectors(geometry_);
      vectors_.fill(syntax, coded.advances_reference ? nullptr : &vectors_);
      std::array<cpu::TransformTable, kPlanes> tables;
      for (int p = 0; p < kPlanes; ++p) tables[p] = cpu::TransformTable(coded.tables[p], p);
      current_ = cpu::PaddedPicture(geometry_);
      for (int row = 0; row < geometry_.mcu_rows(); ++row) {
        cpu::restore_row(syntax, vectors_, tables, cpu::kernels(SimdLevel::scalar), reference_, current_, nullptr, row);
      }
    }
    if (!frame.output.wanted) return;
    frame.samples.resize(geometry_.frame_bytes());
    current_.copy_to(frame.samples);
    std::span<const std::uint8_t> left(frame.samples);
    for (int p = 0; p < kPlanes; ++p) {
      frame.output.view.picture[p] = left.first(geometry_.plane(p).coded_samples);
      left = left.subspan(frame.output.view.picture[p].size());
    }
  }

  std::string description_ = "the host";
  std::size_t room_;
  std::int64_t rejected_;
  std::int64_t lost_;
  Geometry geometry_;
  int opened_ = 0;
  std::deque<Frame> frames_;
  cpu::PaddedPicture current_;
  cpu::PaddedPicture reference_;
  PredictionVectors vectors_;
};

}  // namespace c63::test
