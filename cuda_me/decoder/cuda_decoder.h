#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/decode_backend.h"
#include "bitstream/stream_frame.h"
#include "codec/geometry.h"
#include "cuda_me/decoder/scan_group.h"
#include "cuda_me/kernels/frame_layout.h"
#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/stream.h"

namespace c63::cuda {

/// What a decoder has memory for, with pictures of one size.
struct DecoderRoom {
  int groups = 0;  ///< groups whose scans are parsed at the same time
  int frames = 0;  ///< frames per group
  int slots = 0;   ///< decoded frames in page-locked memory
  std::uint64_t scan_bytes = 0;  ///< bytes of scans per group; a single frame may have more

  /// Returns what a decoder with `max_memory` bytes has memory for; empty if not even one frame fits. A decoder cannot
  /// use more than a certain number of groups, frames and slots, so it may need less memory.
  [[nodiscard]] static std::optional<DecoderRoom> within(std::uint64_t max_memory, const Geometry& geometry);
};

/// A GPU as a decoder. Each group of frames has a stream on which its scans are parsed. When the host knows which scans
/// are valid, another stream restores the frames in order. A frame that the caller wants is restored only when a slot
/// in page-locked memory is free for it.
class CudaDecoder final : public DecodeBackend {
 public:
  CudaDecoder(int device, std::string description);
  ~CudaDecoder() override;

  [[nodiscard]] const std::string& description() const override { return description_; }
  void open(const Geometry& geometry, std::uint64_t max_memory, ParallelFor parallel_for) override;
  [[nodiscard]] bool has_room() const override;
  void submit(StreamFrame&& coded, std::int64_t count, bool wanted) override;
  [[nodiscard]] bool empty() const override { return frames_.empty(); }
  [[nodiscard]] bool is_ready() override;
  [[nodiscard]] const DecodeOutput& front() override;
  std::vector<std::uint8_t> pop() override;
  void clear() noexcept override;

 private:
  /// A picture in device memory.
  struct Picture {
    DeviceBuffer<std::uint8_t> samples;
    DeviceBuffer<PackedVector> vectors;  ///< the vectors with which the blocks were predicted
    /// Number of uses that hold() counts: frames that are copied from this picture, and `current_` or `reference_`.
    int users = 0;
  };
  /// Page-locked memory for a decoded frame.
  struct Slot {
    PinnedBuffer<std::uint8_t> frame;
    Event restored;
    Event downloaded;
    bool taken = false;
  };
  /// A frame that was submitted.
  struct Frame {
    StreamFrame coded;
    DecodeOutput output;
    bool is_valid = true;
    ScanGroup* group = nullptr;  ///< null for a repeat
    int number = 0;              ///< index in the group
    Slot* slot = nullptr;        ///< where the frame is copied to; null if it is not wanted
    Picture* picture = nullptr;  ///< the picture from which it is copied
  };

  /// All memory of the decoder, for pictures of one size.
  struct Memory {
    Memory(const Geometry& of_pictures, const DecoderRoom& with_room);
    Geometry geometry;
    FrameLayout layout;
    DecoderRoom room;
    DeviceBuffer<ScanTables> tables;
    std::array<ScanStaging, 2> stagings;
    std::deque<ScanGroup> groups;
    std::deque<Picture> pictures;
    std::deque<Slot> slots;
    Stream restoring{Stream::Priority::high};
    Stream downloading;
  };

  void parse_filling();
  void restore_parsed();
  [[nodiscard]] bool restore(Frame& frame);
  void download(Frame& frame);
  void hold(Picture*& place, Picture* picture);

  int device_;
  std::string description_;
  ParallelFor parallel_for_;
  std::uint64_t max_memory_ = 0;
  std::unique_ptr<Memory> memory_;

  CopyBatch copies_;              ///< copies of one frame; a member so that its memory is reused
  std::deque<Frame> frames_;
  std::uint64_t coded_bytes_ = 0;  ///< coded bytes of frames_
  std::size_t restored_ = 0;      ///< number of frames at the front of frames_ that are restored or invalid
  bool stopped_ = false;          ///< an invalid frame was found
  std::size_t filling_ = 0;       ///< the group to which frames are added
  std::size_t staging_ = 0;       ///< the staging that is used next
  Picture* current_ = nullptr;    ///< the picture of the last restored frame
  Picture* reference_ = nullptr;  ///< the reference of the last restored frame
};

}  // namespace c63::cuda
