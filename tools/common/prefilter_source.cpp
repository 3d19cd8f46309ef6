#include "common/prefilter_source.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "c63/byte_count.h"
#include "c63/error.h"
#include "common/values.h"

namespace c63 {
namespace {

constexpr std::uint64_t kSumFrames = 2;      // 16-bit sums of one frame
// The memory that a spatial filter needs to read one frame, in frames, rounded up. It holds the unfiltered frame, and
// its luma plane with borders, before and after the filter.
constexpr std::uint64_t kSpatialFrames = 4;

std::optional<ByteKernel> kernel_of(const Prefilter& prefilter) {
  switch (prefilter.kind) {
    case Prefilter::Kind::mean: return mean_kernel(prefilter.size);
    case Prefilter::Kind::gauss: return gauss_kernel(prefilter.sigma);
    default: return std::nullopt;
  }
}

[[noreturn]] void fail(const std::string& text) {
  throw Error(ErrorKind::usage, "C63-PREFILTER",
              "'" + text +
                  "' is not a prefilter: give mean:K with an odd K up to 31, gauss:S with a deviation up to 5, or "
                  "temporal:N with 2 to 64 frames");
}

template <typename Number>
Number number(std::string_view value, const std::string& text, Number least = std::numeric_limits<Number>::lowest(),
              Number most = std::numeric_limits<Number>::max()) {
  const auto read = tools::parse<Number>(value, least, most);
  if (!read) fail(text);
  return *read;
}

}  // namespace

Prefilter prefilter_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) fail(text);
  const std::string kind = text.substr(0, colon);
  const std::string_view value = std::string_view(text).substr(colon + 1);
  Prefilter prefilter;
  if (kind == "mean") {
    prefilter.kind = Prefilter::Kind::mean;
    prefilter.size = number<int>(value, text);
  } else if (kind == "gauss") {
    prefilter.kind = Prefilter::Kind::gauss;
    prefilter.sigma = number<double>(value, text);
  } else if (kind == "temporal") {
    prefilter.kind = Prefilter::Kind::temporal;
    prefilter.size = number<int>(value, text, 2, 64);
  } else {
    fail(text);
  }
  static_cast<void>(kernel_of(prefilter));
  return prefilter;
}

std::string name(const Prefilter& prefilter) {
  switch (prefilter.kind) {
    case Prefilter::Kind::mean: return "mean:" + std::to_string(prefilter.size);
    case Prefilter::Kind::temporal: return "temporal:" + std::to_string(prefilter.size);
    default: break;
  }
  char text[32];
  return "gauss:" + std::string(text, std::to_chars(text, text + sizeof text, prefilter.sigma).ptr);
}

void smooth(ConstPlaneView in, const ByteKernel& kernel, PlaneView out) {
  if (in.width == 0 || in.height == 0) return;
  const int border = kernel.size / 2;
  const int width = in.width + 2 * border;
  const int height = in.height + 2 * border;
  std::vector<std::uint8_t> padded(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = in.row(std::clamp(y - border, 0, in.height - 1));
    std::uint8_t* to = padded.data() + static_cast<std::ptrdiff_t>(y) * width;
    std::fill_n(to, border, from[0]);
    std::copy_n(from, in.width, to + border);
    std::fill_n(to + border + in.width, border, from[in.width - 1]);
  }
  std::vector<std::uint8_t> filtered(padded.size());
  convolve(ConstPlaneView{padded.data(), width, height, width}, kernel, PlaneView{filtered.data(), width, height, width});
  for (int y = 0; y < in.height; ++y) {
    std::copy_n(filtered.data() + static_cast<std::ptrdiff_t>(y + border) * width + border, in.width, out.row(y));
  }
}

PrefilterSource::PrefilterSource(std::unique_ptr<FrameSource> inner, const Prefilter& prefilter, std::uint64_t max_memory)
    : inner_(std::move(inner)), prefilter_(prefilter), kernel_(kernel_of(prefilter)),
      frame_bytes_(frame_bytes(inner_->format().width, inner_->format().height)) {
  const std::uint64_t room = max_memory / frame_bytes_;
  std::uint64_t least = kSpatialFrames;
  if (prefilter.kind == Prefilter::Kind::temporal) {
    const auto window = static_cast<std::uint64_t>(prefilter.size);
    least = kSumFrames + window;
    // Several chains read different parts of the video, and each of them needs `window` frames. The memory is enough
    // for eight chains, if the limit allows that.
    most_frames_ = std::clamp(room, least, kSumFrames + 8 * window);
    most_kept_ = static_cast<std::size_t>(most_frames_ - kSumFrames);
  } else {
    const std::uint64_t threads = std::max(1U, std::thread::hardware_concurrency());
    concurrent_ = room >= threads * kSpatialFrames;
    most_frames_ = (concurrent_ ? threads : 1) * kSpatialFrames;
  }
  if (room < least) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "the prefilter " + name(prefilter) + " takes " + bytes_text(least * frame_bytes_) + ", but only " +
                    bytes_text(max_memory) + " are left for it (--max-memory)");
  }
}

const std::vector<std::uint8_t>* PrefilterSource::original(std::int64_t index, std::size_t bytes) {
  const auto found = kept_.find(index);
  if (found != kept_.end()) {
    found->second.used = ++clock_;
    return &found->second.bytes;
  }
  Kept kept{{}, ++clock_};
  if (kept_.size() >= most_kept_) {  // the frame that was not used for the longest time goes
    const auto oldest = std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; });
    kept.bytes = std::move(oldest->second.bytes);
    kept_.erase(oldest);
  }
  kept.bytes.resize(bytes);
  if (!inner_->read(index, kept.bytes)) return nullptr;
  return &kept_.emplace(index, std::move(kept)).first->second.bytes;
}

std::int64_t PrefilterSource::skip_towards(std::int64_t next, std::int64_t index) {
  if (prefilter_.kind != Prefilter::Kind::temporal) return inner_->skip_towards(next, index);
  // The first frame after a skip is a mean of itself and the frames before it. So these frames must be read, too.
  const std::int64_t before = prefilter_.size - 1;
  if (index - before <= next) return next;
  const std::int64_t entered = inner_->skip_towards(next, index - before);
  return entered == next ? next : entered + before;
}

bool PrefilterSource::read(std::int64_t index, std::span<std::uint8_t> frame) {
  if (prefilter_.kind == Prefilter::Kind::temporal) {
    const std::scoped_lock lock(mutex_);
    const std::int64_t first = std::max<std::int64_t>(0, index - prefilter_.size + 1);
    std::vector<std::uint16_t> sums(frame.size());
    for (std::int64_t k = first; k <= index; ++k) {
      const std::vector<std::uint8_t>* bytes = original(k, frame.size());
      if (bytes == nullptr) return false;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + (*bytes)[i]);
    }
    const auto count = static_cast<unsigned>(index - first + 1);
    for (std::size_t i = 0; i < sums.size(); ++i) frame[i] = static_cast<std::uint8_t>((sums[i] + count / 2) / count);
    return true;
  }
  std::vector<std::uint8_t> unfiltered(frame.size());
  if (!inner_->read(index, unfiltered)) return false;
  const VideoFormat size = inner_->format();
  const auto from = split_planes(std::span<const std::uint8_t>(unfiltered), size.width, size.height);
  const auto to = split_planes(frame, size.width, size.height);
  for (std::size_t plane = 0; plane < 3; ++plane) {
    if (plane > 0 && (size.width % 2 != 0 || size.height % 2 != 0)) {
      std::ranges::copy(from[plane], to[plane].begin());
      continue;
    }
    const int width = plane == 0 ? size.width : size.width / 2;
    const int height = plane == 0 ? size.height : size.height / 2;
    smooth({from[plane].data(), width, height, width}, *kernel_, {to[plane].data(), width, height, width});
  }
  return true;
}

}  // namespace c63
