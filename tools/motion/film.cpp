#include "motion/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "c63/error.h"
#include "motion/codec_field.h"

namespace c63::tools {
namespace {

constexpr std::size_t kMostBatch = 8;  // most pairs that are searched together
constexpr int kMostCodecDistance = 8;
constexpr std::size_t kGuard = 64;  // guard around planes in bytes, see MotionSettings::guarded

constexpr int whole_blocks(int side) { return (side + 7) / 8; }

}  // namespace

/// A frame of the film. Its memory is reused for later frames.
struct FilmMotion::Picture {
  Picture(const VideoFormat& format, int columns, int rows)
      : bytes(frame_bytes(format.width, format.height)),
        memory(bytes + 2 * kGuard),
        luma{memory.data() + kGuard, format.width, format.height, format.width},
        is_whole(format.width == 8 * columns && format.height == 8 * rows) {
    if (is_whole) return;
    padded.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows) * 64 + 2 * kGuard);
    luma = {padded.data() + kGuard, 8 * columns, 8 * rows, 8 * columns};
  }

  [[nodiscard]] std::span<std::uint8_t> frame() { return std::span(memory).subspan(kGuard, bytes); }

  void pad(const VideoFormat& format) {
    if (is_whole) return;
    std::uint8_t* row = padded.data() + kGuard;
    for (int y = 0; y < luma.height; ++y, row += luma.pitch) {
      const std::uint8_t* const from =
          memory.data() + kGuard + static_cast<std::ptrdiff_t>(std::min(y, format.height - 1)) * format.width;
      std::memcpy(row, from, static_cast<std::size_t>(format.width));
      std::fill(row + format.width, row + luma.width, from[format.width - 1]);
    }
  }

  std::size_t bytes;
  std::vector<std::uint8_t> memory;
  std::vector<std::uint8_t> padded;
  ConstPlaneView luma;
  bool is_whole;
  std::int64_t index = 0;
  std::vector<CodecVector> codec;
};

FilmMotion::FilmMotion(std::unique_ptr<FrameSource> source, std::shared_ptr<std::vector<CodecVector>> codec_vectors,
                       PairSearch search, const FilmSettings& settings, std::uint64_t reserve, std::uint64_t max_memory)
    : settings_(settings),
      source_(std::move(source)),
      codec_vectors_(std::move(codec_vectors)),
      search_(std::move(search)),
      pool_(settings.threads),
      format_(source_->format()),
      full_range_(source_->full_range()),
      columns_(whole_blocks(format_.width)),
      rows_(whole_blocks(format_.height)),
      history_(std::max(settings.distance, codec_vectors_ ? kMostCodecDistance : 0)),
      ahead_(std::max(0, -settings.distance)),
      searching_([this] { search_batch(next_batch_); }) {
  const std::size_t count = static_cast<std::size_t>(std::max(0, history_) + ahead_) + 4 * kMostBatch;
  const std::uint64_t picture =
      std::uint64_t{3} * static_cast<std::uint64_t>(columns_) * static_cast<std::uint64_t>(rows_) * 64;
  const std::uint64_t all = count * picture + reserve;
  if (all > max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                fmt::format("searching {}x{} takes {} bytes; the limit is {} (--max-memory)", format_.width,
                            format_.height, all, max_memory));
  }
  to_make_ = count;
  reader_ = std::jthread([this](const std::stop_token& stop) { read_pictures(stop); });
}

FilmMotion::~FilmMotion() { stop(); }

void FilmMotion::stop() {
  if (!reader_.joinable()) return;
  reader_.request_stop();
  source_->stop_waiting();
  {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  reader_.join();
}

FilmMotion::PicturePointer FilmMotion::take_empty(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !empty_.empty() || to_make_ > 0 || stop.stop_requested(); });
  if (stop.stop_requested()) return nullptr;
  if (empty_.empty()) {
    --to_make_;
    lock.unlock();
    return std::make_shared<Picture>(format_, columns_, rows_);
  }
  PicturePointer picture = std::move(empty_.back());
  empty_.pop_back();
  return picture;
}

void FilmMotion::read_pictures(const std::stop_token& stop) {
  std::exception_ptr fault;
  try {
    for (std::int64_t index = 0;; ++index) {
      const PicturePointer picture = take_empty(stop);
      if (!picture || !source_->read(index, picture->frame())) break;
      picture->index = index;
      picture->pad(format_);
      if (codec_vectors_) picture->codec.swap(*codec_vectors_);
      const std::lock_guard lock(mutex_);
      read_.push_back(picture);
      changed_.notify_all();
    }
  } catch (...) {
    fault = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  ended_ = true;
  changed_.notify_all();
}

/// Waits for frames from the reader. Returns false after the last one.
bool FilmMotion::take_pictures() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !read_.empty() || ended_; });
  if (read_.empty()) return false;
  for (std::size_t i = 0; i < kMostBatch && !read_.empty(); ++i) {
    pictures_.push_back(std::move(read_.front()));
    read_.pop_front();
  }
  return true;
}

FilmMotion::PicturePointer FilmMotion::find(std::int64_t index) const {
  if (pictures_.empty()) return nullptr;
  const std::int64_t at = index - pictures_.front()->index;
  return at >= 0 && at < std::ssize(pictures_) ? pictures_[static_cast<std::size_t>(at)] : nullptr;
}

FilmMotion::PicturePointer FilmMotion::reference_of(const Picture& picture) const {
  PicturePointer best = find(picture.index - settings_.distance);
  if (!codec_vectors_ || picture.codec.empty()) return best;
  std::uint64_t least = UINT64_MAX;
  for (int distance = 1; distance <= kMostCodecDistance; ++distance) {
    const PicturePointer candidate = find(picture.index - distance);
    if (!candidate) continue;
    const std::uint64_t cost = codec_cost(picture.codec, picture.luma, candidate->luma);
    if (cost < least) {
      least = cost;
      best = candidate;
    }
  }
  return best;
}

/// Makes the next batch: frames whose references have been read, and frames that will never have a reference. Searches
/// the frames that have one.
void FilmMotion::search_batch(Batch& batch) {
  batch.frames.clear();
  while (batch.frames.empty()) {
    while (batch.frames.size() < kMostBatch) {
      const PicturePointer picture = find(next_);
      if (!picture || (!source_ended_ && !find(next_ + ahead_))) break;
      batch.frames.push_back({picture, nullptr, 0});
      ++next_;
    }
    if (!batch.frames.empty() || source_ended_) break;
    source_ended_ = !take_pictures();
  }
  std::vector<MotionPair> pairs;
  for (Searched& searched : batch.frames) {
    searched.reference = reference_of(*searched.picture);
    if (!searched.reference) continue;
    searched.pair = pairs.size();
    pairs.push_back({searched.picture->luma, searched.reference->luma});
  }
  const std::size_t blocks = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) * pairs.size();
  batch.vectors.resize(blocks);
  batch.sads.resize(blocks);
  batch.seconds.resize(settings_.seconds ? blocks : 0);
  batch.quarters.resize(settings_.quarters ? 4 * blocks : 0);
  if (pairs.empty()) return;
  const MotionResults results{batch.vectors.data(), batch.sads.data(), settings_.seconds ? batch.seconds.data() : nullptr,
                              settings_.quarters ? batch.quarters.data() : nullptr};
  pool_.execute([&] { search_(pairs, results); });
}

/// Begins to search the next batch on another thread. Before that, gives frames back to the reader that neither this
/// batch nor batch_ needs.
void FilmMotion::begin_search() {
  const std::int64_t needed = next_ - std::ssize(batch_.frames) - std::max(0, history_);
  while (!pictures_.empty() && pictures_.front()->index < needed) {
    const std::lock_guard lock(mutex_);
    empty_.push_back(std::move(pictures_.front()));
    pictures_.pop_front();
    changed_.notify_all();
  }
  searching_.begin();
  is_searching_ = true;
}

void FilmMotion::make_frame(std::size_t at) {
  const Searched& searched = batch_.frames[at];
  Picture& picture = *searched.picture;
  const std::size_t blocks = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_);
  frame_ = {};
  frame_.film = true;
  frame_.full_range = full_range_;
  frame_.index = settings_.first_index + picture.index;
  frame_.sad_of_source = true;
  frame_.blocks.width = format_.width;
  frame_.blocks.height = format_.height;
  frame_.blocks.key = !searched.reference;
  PlaneBlocks& luma = frame_.blocks.planes[0];
  luma.columns = columns_;
  luma.rows = rows_;
  luma.inter.assign(blocks, searched.reference ? 1 : 0);
  if (settings_.pictures) frame_.picture.assign(picture.frame().begin(), picture.frame().end());
  if (!searched.reference) {
    luma.vectors.resize(blocks);
    frame_.sads[0].resize(blocks);
    if (settings_.predictions) frame_.prediction.assign(picture.bytes, 128);
    if (codec_vectors_)
      frame_.codec =
          CodecField{std::vector<CodecField::Vector>(blocks), luma.inter, std::vector<std::uint32_t>(blocks)};
    return;
  }
  frame_.reference = settings_.first_index + searched.reference->index;
  const auto own = [&](const auto& values, std::size_t each) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(each * blocks * searched.pair);
    return std::pair(first, first + static_cast<std::ptrdiff_t>(each * blocks));
  };
  const auto [first_vector, last_vector] = own(batch_.vectors, 1);
  luma.vectors.assign(first_vector, last_vector);
  const auto [first_sad, last_sad] = own(batch_.sads, 1);
  frame_.sads[0].assign(first_sad, last_sad);
  if (settings_.seconds) frame_.seconds.assign(own(batch_.seconds, 1).first, own(batch_.seconds, 1).second);
  if (settings_.quarters) frame_.quarters.assign(own(batch_.quarters, 4).first, own(batch_.quarters, 4).second);
  if (codec_vectors_) frame_.codec = codec_field(picture.codec, picture.luma, searched.reference->luma);
  if (settings_.predictions) {
    frame_.prediction.assign(picture.bytes, 128);
    predict_frame(searched.reference->frame(), luma, format_, frame_.prediction);
  }
}

const MotionFrame* FilmMotion::next() {
  if (handed_out_ == batch_.frames.size()) {
    if (!is_searching_) begin_search();
    is_searching_ = false;
    searching_.end();
    std::swap(batch_, next_batch_);
    handed_out_ = 0;
    if (!batch_.frames.empty()) begin_search();
  }
  if (batch_.frames.empty()) {
    const std::lock_guard lock(mutex_);
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
    return nullptr;
  }
  make_frame(handed_out_++);
  return &frame_;
}

}  // namespace c63::tools
