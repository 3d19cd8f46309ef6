#include <algorithm>
#include <cstddef>

#include "c63/error.h"
#include "c63/frame_source.h"
#include "c63/thread_pool.h"
#include "io/source_parts.h"

namespace c63 {

void copy_in_pieces(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) {
  constexpr std::size_t kPiece = 64 << 10;
  if (from.size() < 8 * kPiece) {
    std::ranges::copy(from, to.begin());
    return;
  }
  parallel_for((from.size() + kPiece - 1) / kPiece, [&](std::size_t i) {
    const std::size_t first = i * kPiece;
    std::ranges::copy(from.subspan(first, std::min(kPiece, from.size() - first)), to.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

MemorySource::MemorySource(std::span<const std::uint8_t> frames, VideoFormat format)
    : frames_(frames),
      format_(format),
      frame_bytes_(frame_bytes(format.width, format.height)),
      count_(frame_bytes_ > 0 ? static_cast<std::int64_t>(frames.size() / frame_bytes_) : 0) {
  if (frame_bytes_ == 0 ? !frames.empty() : frames.size() % frame_bytes_ != 0) {
    throw Error(ErrorKind::input, "C63-PARTIAL-FRAME",
                std::to_string(frames.size()) + " bytes are not a whole number of frames of " + std::to_string(frame_bytes_) +
                    " bytes");
  }
}

bool MemorySource::read(std::int64_t index, std::span<std::uint8_t> frame) {
  const std::span<const std::uint8_t> samples = in_place(index);
  if (samples.empty()) return false;
  copy_in_pieces(samples, frame);
  return true;
}

std::span<const std::uint8_t> MemorySource::in_place(std::int64_t index) {
  if (index < 0 || index >= count_) return {};
  return frames_.subspan(static_cast<std::size_t>(index) * frame_bytes_, frame_bytes_);
}

}  // namespace c63
