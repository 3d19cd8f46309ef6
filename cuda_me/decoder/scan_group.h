#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/decode_backend.h"
#include "bitstream/frame_header.h"
#include "codec/quantization.h"
#include "cuda_me/decoder/decode_kernels.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Page-locked memory through which scans are copied to the device. The decoder has two, and the groups use them in
/// turn.
struct ScanStaging {
  PinnedBuffer<std::uint8_t> memory;
  Event uploaded;  ///< recorded after the last upload from `memory`
};

/// Frames whose scans are parsed together. Keeps their syntax elements until the frames are restored.
class ScanGroup {
 public:
  /// Makes a group for at most `frames` frames.
  ScanGroup(const ScanShape& shape, std::size_t blocks, int frames);

  [[nodiscard]] int size() const { return static_cast<int>(scans_.size()); }
  [[nodiscard]] bool is_full() const { return size() == frames_; }
  /// The size of all added scans in bytes, including stuffing bytes.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_parsing() const { return parsing_; }

  /// Adds a frame and returns its index in the group. The bytes of its scan must stay valid until parse() has returned.
  /// parse() must not have been called yet.
  int add(const ParsedFrame& frame);
  /// Starts to parse the added scans.
  void parse(const ScanTables* tables, ScanStaging& staging, const ParallelFor& parallel_for);

  /// Returns true if all scans are parsed. is_fine() and job() may only be called then.
  [[nodiscard]] bool is_parsed() const { return parsing_ && parsed_.done(); }
  void wait() const { parsed_.synchronize(); }
  [[nodiscard]] bool is_fine(int number) const { return fine_.data()[number] != 0; }
  /// Returns a job with the levels, vectors and quantizers of frame `number`. The caller sets the other members.
  [[nodiscard]] RestoreJob job(int number) const;

  /// Empties the group. Its next scans are copied to the device only after the work that is on `stream` now. That work
  /// must include everything that reads this group's results.
  void release(cudaStream_t stream);
  /// Empties the group at once. Nothing on the device may still read the group's results when this is called.
  void clear();

 private:
  struct Scan {
    std::span<const std::uint8_t> stuffed;
    bool key = false;
    std::size_t table = 0;  ///< index in tables_
  };

  ScanShape shape_;
  std::size_t blocks_;
  int frames_;
  std::vector<Scan> scans_;
  std::vector<QuantizationTables> tables_;  ///< each set of tables that differs from the previous frame's
  std::uint64_t bytes_ = 0;
  bool parsing_ = false;

  DeviceBuffer<std::uint8_t> input_;  ///< on the device: jobs, quantizers, scans
  DeviceBuffer<std::int16_t> levels_;
  DeviceBuffer<PackedVector> vectors_;
  PinnedBuffer<std::uint8_t> fine_;
  std::size_t quantizers_ = 0;  ///< offset of the quantizers in input_
  Stream stream_;
  Event parsed_;
  Event released_;
};

}  // namespace c63::cuda
