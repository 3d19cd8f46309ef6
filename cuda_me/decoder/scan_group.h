#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/decode_backend.h"
#include "codec/quantization.h"
#include "cuda_me/decoder/decode_kernels.h"
#include "cuda_me/kernels/frame_kernels.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// Page-locked memory through which scans go to the device; several groups take turns.
struct ScanStaging {
  PinnedBuffer<std::uint8_t> memory;
  Event uploaded;  ///< what was in it last
};

/// Frames whose scans are parsed together, and their syntax elements until they are restored.
class ScanGroup {
 public:
  /// For at most `frames` frames.
  ScanGroup(const ScanShape& shape, std::size_t blocks, int frames);

  [[nodiscard]] int size() const { return static_cast<int>(scans_.size()); }
  [[nodiscard]] bool is_full() const { return size() == frames_; }
  /// Bytes of the scans, with stuffing.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_parsing() const { return parsing_; }

  /// Adds a frame, whose scan stays where it is; returns its number here. Only before parse().
  int add(const FrameToDecode& frame);
  /// Starts to parse what was added.
  void parse(const ScanTables* tables, ScanStaging& staging, const ParallelFor& parallel_for);

  /// Whether everything is parsed. Then, of frame `number`:
  [[nodiscard]] bool is_parsed() const { return parsing_ && parsed_.done(); }
  void wait() const { parsed_.synchronize(); }
  [[nodiscard]] bool is_fine(int number) const { return fine_.data()[number] != 0; }
  /// What is known of it here: levels, vectors and quantizers.
  [[nodiscard]] RestoreJob job(int number) const;

  /// All that reads from it is on `stream`: it may be filled again.
  void release(cudaStream_t stream);
  /// The same where nothing reads from it.
  void clear();

 private:
  struct Scan {
    std::span<const std::uint8_t> stuffed;
    bool key = false;
    std::size_t table = 0;  ///< of tables_
  };

  ScanShape shape_;
  std::size_t blocks_;
  int frames_;
  std::vector<Scan> scans_;
  std::vector<QuantizationTables> tables_;  ///< those that differ from the frame's before
  std::uint64_t bytes_ = 0;
  bool parsing_ = false;

  DeviceBuffer<std::uint8_t> input_;  ///< jobs, quantizers, scans
  DeviceBuffer<std::int16_t> levels_;
  DeviceBuffer<PackedVector> vectors_;
  PinnedBuffer<std::uint8_t> fine_;
  std::size_t quantizers_ = 0;  ///< where they begin in input_
  Stream stream_;
  Event parsed_;
  Event released_;
};

}  // namespace c63::cuda
