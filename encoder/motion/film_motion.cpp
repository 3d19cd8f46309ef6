#include "c63/film_motion.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "c63/error.h"
#include "c63/thread_pool.h"
#include "io/one_ahead.h"
#include "motion/codec_field.h"

namespace c63 {
namespace {

constexpr std::size_t kMostBatch = 8;  // most pairs that are searched together
constexpr int kMostCodecDistance = 8;
constexpr std::size_t kGuard = 64;  // guard around planes in bytes, see MotionSettings::guarded

constexpr int whole_blocks(int side) { return (side + 7) / 8; }

/// A frame of the film. Its memory is reused for later frames.
struct Picture {
  /// A frame in the memory of a GPU. Its luma needs no padding.
  Picture(const VideoFormat& format, FilmDevice& device)
      : bytes(frame_bytes(format.width, format.height)),
        on_device(device.allocate(bytes)),
        luma{on_device.get(), format.width, format.height, format.width},
        is_whole(true) {}

  Picture(const VideoFormat& format, int columns, int rows)
      : bytes(frame_bytes(format.width, format.height)),
        memory(bytes + 2 * kGuard),
        luma{memory.data() + kGuard, format.width, format.height, format.width},
        is_whole(format.width == 8 * columns && format.height == 8 * rows) {
    if (is_whole) return;
    padded.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows) * 64 + 2 * kGuard);
    luma = {padded.data() + kGuard, 8 * columns, 8 * rows, 8 * columns};
  }

  [[nodiscard]] std::span<std::uint8_t> frame() {
    return on_device ? std::span(on_device.get(), bytes) : std::span(memory).subspan(kGuard, bytes);
  }
  /// Empty if the frame is in the memory of a GPU.
  [[nodiscard]] std::span<const std::uint8_t> shown() { return on_device ? std::span<std::uint8_t>() : frame(); }

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
  std::shared_ptr<std::uint8_t[]> on_device;
  ConstPlaneView luma;
  bool is_whole;
  std::int64_t index = 0;
  FrameDetails details;
};

using PicturePointer = std::shared_ptr<Picture>;

/// A frame of a batch, and the result of its search if it has a reference.
struct Searched {
  PicturePointer picture;
  PicturePointer reference;  ///< null: none
  std::size_t pair = 0;
};

/// Frames that are searched together, and the results of their searches.
struct Batch {
  std::vector<Searched> frames;
  std::vector<MotionVector> vectors;
  std::vector<std::uint16_t> sads;
  std::vector<std::uint16_t> seconds;
  std::vector<std::uint16_t> quarters;
  std::vector<FineVector> fine;
  std::vector<std::uint8_t> agrees;
};

/// Returns a vector in whole samples.
MotionVector whole_vector(FineVector v) {
  const auto whole = [](int units) {
    return static_cast<std::int8_t>(std::clamp((units + (units < 0 ? -kFineUnits : kFineUnits) / 2) / kFineUnits, -127, 127));
  };
  return {whole(v.x), whole(v.y)};
}

/// Returns the search of the settings, by default on the CPU. It gets guarded planes.
PairSearch search_of(const FilmSettings& settings) {
  MotionSettings search = settings.search;
  search.guarded = true;
  return settings.pair_search ? settings.pair_search : cpu_pair_search(search);
}

}  // namespace

struct FilmMotion::State {
  State(std::unique_ptr<FrameSource> film, std::shared_ptr<FrameDetails> details, const FilmSettings& of_film);
  ~State() { stop(); }

  void stop();
  void read_pictures(const std::stop_token& stop);
  [[nodiscard]] PicturePointer take_empty(const std::stop_token& stop);
  [[nodiscard]] bool take_pictures();
  void search_batch(Batch& batch);
  void begin_search();
  [[nodiscard]] PicturePointer reference_of(const Picture& picture) const;
  [[nodiscard]] PicturePointer find(std::int64_t index) const;
  void make_frame(std::size_t at);
  [[nodiscard]] const FilmFrame* next();

  FilmSettings settings_;
  std::unique_ptr<FrameSource> source_;
  std::shared_ptr<FilmDevice> device_;  ///< the GPU in whose memory pictures are; null: they are in the host's
  std::shared_ptr<FrameDetails> details_;  ///< of the frame that the source has read last; null: it gives none
  PairSearch search_;
  ThreadPool pool_;
  VideoFormat format_;
  bool full_range_;
  int columns_;
  int rows_;
  int history_;  ///< most frames that a reference lies before its frame
  int ahead_;    ///< most frames that a reference lies after its frame

  // Frames that the reader has filled, and empty ones that it may fill.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PicturePointer> empty_;
  std::size_t to_make_ = 0;  ///< number of pictures that may still be made; each is made when no empty one is left
  std::deque<PicturePointer> read_;
  bool ended_ = false;
  std::exception_ptr fault_;

  std::deque<PicturePointer> pictures_;  ///< frames not yet searched, and the last ones before them, in order
  std::int64_t next_ = 0;                ///< number of the next frame to search
  bool source_ended_ = false;

  Batch batch_;       ///< next() returns its frames
  Batch next_batch_;  ///< is being searched
  std::size_t handed_out_ = 0;
  FilmFrame frame_;
  CodecField codec_;  ///< of frame_
  double later_ = 0;  ///< how much later than index / frame rate the last frame with a known time was

  /// Searches next_batch_. Its destructor waits for the search, which may wait for the reader. So the reader is declared
  /// after it, and ended before it.
  OneAhead searching_;
  bool is_searching_ = false;

  std::jthread reader_;  ///< declared last, because it uses all members above
};

FilmMotion::State::State(std::unique_ptr<FrameSource> film, std::shared_ptr<FrameDetails> details,
                         const FilmSettings& of_film)
    : settings_(of_film),
      source_(std::move(film)),
      details_(std::move(details)),
      search_(search_of(settings_)),
      pool_(settings_.threads),
      format_(source_->format()),
      full_range_(source_->full_range()),
      columns_(whole_blocks(format_.width)),
      rows_(whole_blocks(format_.height)),
      history_(std::max(settings_.distance, settings_.codec_vectors ? kMostCodecDistance : 0)),
      ahead_(std::max(0, -settings_.distance)),
      searching_([this] { search_batch(next_batch_); }) {
  if (settings_.searches_on_device && format_.width % 16 == 0 && format_.height % 8 == 0) device_ = source_->film_device();
  if (settings_.distance == 0) throw Error(ErrorKind::usage, "C63-SETTING", "distance 0 would search every frame in itself");
  if (settings_.search.fine && (settings_.seconds || settings_.quarters || settings_.search.zero_bias != 0)) {
    throw Error(ErrorKind::usage, "C63-SETTING", "the search of true motion has no second SADs, no quarters and no zero bias");
  }
  const std::size_t count = static_cast<std::size_t>(std::max(0, history_) + ahead_) + 4 * kMostBatch;
  const std::uint64_t picture =
      std::uint64_t{3} * static_cast<std::uint64_t>(columns_) * static_cast<std::uint64_t>(rows_) * 64;
  // A search of true motion has interpolated planes, and smaller ones.
  const std::uint64_t all = (count + (settings_.search.fine ? 3 : 0)) * picture + settings_.reserve;
  if (all > settings_.limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "searching " + std::to_string(format_.width) + "x" + std::to_string(format_.height) + " takes " +
                    std::to_string(all) + " bytes; the limit is " + std::to_string(settings_.limits.max_memory) +
                    " (--max-memory)");
  }
  to_make_ = count;
  reader_ = std::jthread([this](const std::stop_token& stop) { read_pictures(stop); });
}

void FilmMotion::State::stop() {
  if (!reader_.joinable()) return;
  reader_.request_stop();
  source_->stop_waiting();
  {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  reader_.join();
}

PicturePointer FilmMotion::State::take_empty(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !empty_.empty() || to_make_ > 0 || stop.stop_requested(); });
  if (stop.stop_requested()) return nullptr;
  if (empty_.empty()) {
    --to_make_;
    lock.unlock();
    return device_ ? std::make_shared<Picture>(format_, *device_) : std::make_shared<Picture>(format_, columns_, rows_);
  }
  PicturePointer picture = std::move(empty_.back());
  empty_.pop_back();
  return picture;
}

void FilmMotion::State::read_pictures(const std::stop_token& stop) {
  std::exception_ptr fault;
  try {
    for (std::int64_t index = 0;; ++index) {
      const PicturePointer picture = take_empty(stop);
      if (!picture || !source_->read(index, picture->frame())) break;
      picture->index = index;
      picture->pad(format_);
      if (details_) std::swap(picture->details, *details_);
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
bool FilmMotion::State::take_pictures() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !read_.empty() || ended_; });
  if (read_.empty()) return false;
  for (std::size_t i = 0; i < kMostBatch && !read_.empty(); ++i) {
    pictures_.push_back(std::move(read_.front()));
    read_.pop_front();
  }
  return true;
}

PicturePointer FilmMotion::State::find(std::int64_t index) const {
  if (pictures_.empty()) return nullptr;
  const std::int64_t at = index - pictures_.front()->index;
  return at >= 0 && at < std::ssize(pictures_) ? pictures_[static_cast<std::size_t>(at)] : nullptr;
}

PicturePointer FilmMotion::State::reference_of(const Picture& picture) const {
  PicturePointer best = find(picture.index - settings_.distance);
  if (!settings_.codec_vectors || picture.details.vectors.empty()) return best;
  std::uint64_t least = UINT64_MAX;
  for (int distance = 1; distance <= kMostCodecDistance; ++distance) {
    const PicturePointer candidate = find(picture.index - distance);
    if (!candidate) continue;
    const std::uint64_t cost = codec_cost(picture.details.vectors, picture.luma, candidate->luma);
    if (cost < least) {
      least = cost;
      best = candidate;
    }
  }
  return best;
}

/// Makes the next batch: frames whose references have been read, and frames that will never have a reference. Searches
/// the frames that have one.
void FilmMotion::State::search_batch(Batch& batch) {
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
  const bool is_fine = settings_.search.fine.has_value();
  batch.fine.resize(is_fine ? blocks : 0);
  batch.agrees.resize(is_fine && settings_.search.fine->check >= 0 ? blocks : 0);
  if (pairs.empty()) return;
  if (is_fine) {
    const MotionResults results{.sads = batch.sads.data(), .fine = batch.fine.data(), .agrees = batch.agrees.empty() ? nullptr : batch.agrees.data()};
    pool_.execute([&] { search_(pairs, results); });
    std::ranges::transform(batch.fine, batch.vectors.begin(), whole_vector);
    return;
  }
  const MotionResults results{batch.vectors.data(), batch.sads.data(), settings_.seconds ? batch.seconds.data() : nullptr,
                              settings_.quarters ? batch.quarters.data() : nullptr};
  pool_.execute([&] { search_(pairs, results); });
}

/// Begins to search the next batch on another thread. Before that, gives frames back to the reader that neither this
/// batch nor batch_ needs.
void FilmMotion::State::begin_search() {
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

void FilmMotion::State::make_frame(std::size_t at) {
  const Searched& searched = batch_.frames[at];
  Picture& picture = *searched.picture;
  const std::size_t blocks = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_);
  const std::int64_t index = settings_.first_index + picture.index;
  const double even = static_cast<double>(index) / format_.rate.value();
  if (picture.details.time) later_ = *picture.details.time - even;
  frame_ = {.index = index,
            .time = picture.details.time.value_or(even + later_),
            .kind = picture.details.kind,
            .columns = columns_,
            .rows = rows_,
            .picture = picture.shown()};
  if (settings_.codec_vectors) frame_.codec = &codec_;
  if (!searched.reference) {
    if (settings_.codec_vectors)
      codec_ = {std::vector<CodecField::Vector>(blocks), std::vector<std::uint8_t>(blocks), std::vector<std::uint32_t>(blocks)};
    return;
  }
  frame_.reference = settings_.first_index + searched.reference->index;
  frame_.reference_picture = searched.reference->shown();
  const auto own = [&](const auto& values, std::size_t each) {
    return values.empty() ? std::span(values) : std::span(values).subspan(each * blocks * searched.pair, each * blocks);
  };
  frame_.vectors = own(batch_.vectors, 1);
  frame_.sads = own(batch_.sads, 1);
  frame_.seconds = own(batch_.seconds, 1);
  frame_.quarters = own(batch_.quarters, 4);
  frame_.fine = own(batch_.fine, 1);
  frame_.agrees = own(batch_.agrees, 1);
  if (settings_.codec_vectors) codec_ = codec_field(picture.details.vectors, picture.luma, searched.reference->luma);
}

const FilmFrame* FilmMotion::State::next() {
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

FilmMotion::FilmMotion(SourceOptions film, const FilmSettings& settings) {
  film.details = std::make_shared<FrameDetails>();
  film.codec_vectors = settings.codec_vectors;
  state_ = std::make_unique<State>(open_frame_source(film), film.details, settings);
}

FilmMotion::FilmMotion(std::unique_ptr<FrameSource> source, std::shared_ptr<FrameDetails> details,
                       const FilmSettings& settings)
    : state_(std::make_unique<State>(std::move(source), std::move(details), settings)) {}

FilmMotion::~FilmMotion() = default;

const VideoFormat& FilmMotion::format() const { return state_->format_; }
bool FilmMotion::full_range() const { return state_->full_range_; }
const FilmFrame* FilmMotion::next() { return state_->next(); }
bool FilmMotion::is_ready() const { return state_->handed_out_ < state_->batch_.frames.size(); }
void FilmMotion::stop() { state_->stop(); }

}  // namespace c63
