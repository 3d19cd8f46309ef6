#include "decode/stream_reader.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"

namespace c63 {

Error in_stream(const Error& error, const StreamFrame& frame) {
  ErrorPlace place = error.place();
  place.frame = frame.index;
  place.offset = static_cast<std::int64_t>(frame.offset) + place.offset.value_or(0);
  return {error.kind(), error.id(), error.message(), std::move(place)};
}

bool StreamReader::read_more() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    markers_.erase(markers_.begin(), std::ranges::lower_bound(markers_, begin_));
    for (std::size_t& marker : markers_) marker -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ >= max_memory_) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "a coded frame is larger than the limit of " + bytes_text(max_memory_) + " (--max-memory)",
                {.frame = index_, .offset = static_cast<std::int64_t>(offset_)});
  }
  // A large frame is parsed again after each read until it is complete. The buffer doubles each time, so the total time
  // grows only linearly with the frame's size.
  if (buffer_.size() - end_ < std::max(chunk_, end_)) buffer_.resize(end_ + std::max(chunk_, end_));
  const std::size_t count = source_.read(std::span(buffer_).subspan(end_));
  end_ += count;
  // The last byte that was there before is searched again: whether it begins a marker depends on the byte after it,
  // which is new.
  if (finds_markers_) find_markers_from(end_ - count - (end_ > count ? 1 : 0));
  return count > 0;
}

void StreamReader::find_markers_from(std::size_t first) {
  constexpr std::size_t kPiece = std::size_t{1} << 17;
  // The most markers of a piece. If there are more, the search in advance is turned off: the list would take too much
  // memory for the time that it saves.
  constexpr std::size_t kMost = kPiece / 64;
  const std::span<const std::uint8_t> bytes(buffer_.data(), end_);
  std::vector<std::vector<std::size_t>> found((end_ - first + kPiece - 1) / kPiece);
  oneapi::tbb::parallel_for(std::size_t{0}, found.size(), [&](std::size_t i) {
    const std::size_t begin = first + i * kPiece;
    found[i] = find_markers(bytes, begin, std::min(end_, begin + kPiece), kMost);
  });
  finds_markers_ = std::ranges::none_of(found, [](const auto& piece) { return piece.size() == kMost; });
  for (const auto& piece : found) markers_.insert(markers_.end(), piece.begin(), piece.end());
}

std::optional<StreamFrame> StreamReader::next() { return take(/*with_bytes=*/true); }

std::optional<StreamFrame> StreamReader::pass() { return take(/*with_bytes=*/false); }

std::optional<StreamFrame> StreamReader::take(bool with_bytes) {
  for (;;) {
    const std::span<const std::uint8_t> bytes(buffer_.data() + begin_, end_ - begin_);
    if (bytes.empty()) {
      if (ended_ || !read_more()) return std::nullopt;
      continue;
    }
    try {
      StreamFrame frame;
      const KnownMarkers known{markers_, begin_};
      frame.parsed = parser_.parse(bytes, finds_markers_ ? &known : nullptr);
      frame.index = index_++;
      frame.offset = offset_;
      if (with_bytes) {
        if (!spare_.empty()) {
          frame.bytes = std::move(spare_.back());
          spare_.pop_back();
        }
        frame.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(frame.parsed.size));
        frame.parsed.scan =
            std::span<const std::uint8_t>(frame.bytes).subspan(frame.parsed.scan_offset, frame.parsed.scan.size());
      } else {
        frame.parsed.scan = {};
      }
      begin_ += frame.parsed.size;
      offset_ += frame.parsed.size;
      return frame;
    } catch (const Error& error) {
      if (error.id() == "C63-TRUNCATED" && !ended_) {
        ended_ = !read_more();
        continue;
      }
      ErrorPlace place = error.place();
      place.frame = index_;
      place.offset = static_cast<std::int64_t>(offset_) + place.offset.value_or(0);
      throw Error(error.kind(), error.id(), error.message(), std::move(place));
    }
  }
}

std::int64_t StreamReader::take_repeats(std::int64_t most) {
  static constexpr std::array<std::uint8_t, kRepeatFrameBytes> kRepeat = {0xFF, 0xD8, 0xFF, 0xD9};
  std::int64_t count = 0;
  while (count < most && end_ - begin_ >= kRepeat.size() &&
         std::memcmp(buffer_.data() + begin_, kRepeat.data(), kRepeat.size()) == 0) {
    begin_ += kRepeat.size();
    ++count;
  }
  index_ += count;
  offset_ += static_cast<std::uint64_t>(count) * kRepeat.size();
  return count;
}

}  // namespace c63
