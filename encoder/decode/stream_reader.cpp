#include "decode/stream_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"

namespace c63 {

bool StreamReader::read_more() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
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
  if (buffer_.size() - end_ < std::max(kChunk, end_)) buffer_.resize(end_ + std::max(kChunk, end_));
  const auto room = std::span(buffer_).subspan(end_);
  const std::size_t count = by_offset_ ? source_.read_at(offset_ + end_, room) : source_.read(room);
  end_ += count;
  return count > 0;
}

std::optional<StreamFrame> StreamReader::take(bool with_bytes) {
  for (;;) {
    const std::span<const std::uint8_t> bytes(buffer_.data() + begin_, end_ - begin_);
    if (bytes.empty()) {
      if (ended_ || !read_more()) return std::nullopt;
      continue;
    }
    try {
      StreamFrame frame;
      frame.parsed = parser_.parse(bytes);
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
