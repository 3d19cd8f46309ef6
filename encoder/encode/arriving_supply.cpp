// The FrameSupply of a source that cannot seek. A thread reads frames as they arrive and keeps them until their GOP
// chain takes them. So a pipe is read while frames are coded, and a frame can be coded as soon as it has arrived.

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "encode/frame_supply.h"
#include "threads/start_thread.h"

namespace c63 {
namespace {

class ArrivingSupply final : public FrameSupply {
 public:
  ArrivingSupply(FrameSource& source, const FrameSupplyOptions& options, ChangeSignal& arrived)
      : FrameSupply(source, options),
        arrived_(arrived),
        read_ahead_(options.read_ahead),
        rewindable_(options.rewindable),
        trace_(options.trace),
        device_(options.scene_cuts ? nullptr : source.film_device()),
        reader_(start_thread([this, pool = options.pool] { pool->execute([this] { read_all(); }); })) {}

  ~ArrivingSupply() override { stop(); }

  [[nodiscard]] FrameState state(std::int64_t index) override {
    const std::lock_guard lock(mutex_);
    if (index >= next_) return ended_ ? FrameState::none : FrameState::pending;
    return cuts_ && index >= cuts_->decided() ? FrameState::pending : FrameState::ready;
  }

  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    return take(index, [&](const Frame& taken) {
      taken.on_device ? device_->copy(frame, taken.samples()) : static_cast<void>(std::ranges::copy(taken.bytes, frame.begin()));
    });
  }

  [[nodiscard]] std::span<const std::uint8_t> in_place(std::int64_t index) override {
    const std::lock_guard lock(mutex_);
    const auto found = frames_.find(index);
    return found != frames_.end() ? found->second.samples() : std::span<const std::uint8_t>();
  }

  [[nodiscard]] std::shared_ptr<const void> hold(std::int64_t index) override {
    std::shared_ptr<const void> memory;
    static_cast<void>(take(index, [&](const Frame& taken) { memory = taken.on_device; }));
    return memory;
  }

  [[nodiscard]] bool concurrent() const override { return false; }
  [[nodiscard]] const char* read_name() const override { return "take"; }

  void stop() override {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(stopped_, true)) return;
    }
    room_.notify_one();
    source_.stop_waiting();
  }

  void forget_before(std::int64_t index) override {
    if (!rewindable_) return;
    const std::lock_guard lock(mutex_);
    frames_.erase(frames_.begin(), frames_.lower_bound(index));
  }

  void rewind(std::int64_t index) override {
    const std::lock_guard lock(mutex_);
    for (auto it = frames_.lower_bound(index); it != frames_.end(); ++it) {
      if (std::exchange(it->second.taken, false)) ++waiting_;
    }
  }

  [[nodiscard]] std::optional<std::int64_t> frames() const override {
    const std::lock_guard lock(mutex_);
    return ended_ ? std::optional(next_) : std::nullopt;
  }
  [[nodiscard]] std::int64_t frames_read() const override {
    const std::lock_guard lock(mutex_);
    return next_;
  }

 private:
  struct Frame {
    std::vector<std::uint8_t> bytes;
    std::shared_ptr<std::uint8_t[]> on_device;  ///< the frame in device_'s memory; `bytes` is then empty
    std::size_t size = 0;                       ///< of the frame on the device
    bool taken = false;

    [[nodiscard]] std::span<std::uint8_t> samples() const { return {on_device.get(), on_device ? size : 0}; }
  };

  /// Calls `use` with a frame, which then need not be kept unless rewind() may ask for it. Returns false if it is not there.
  template <typename Use>
  bool take(std::int64_t index, const Use& use) {
    std::unique_lock lock(mutex_);
    auto taken = frames_.extract(index);
    if (taken.empty()) return false;
    lock.unlock();
    use(taken.mapped());
    lock.lock();
    if (!std::exchange(taken.mapped().taken, true)) --waiting_;
    if (rewindable_) {
      frames_.insert(std::move(taken));
    } else if (!taken.mapped().on_device) {
      spare_.push_back(std::move(taken.mapped().bytes));
    }
    lock.unlock();
    room_.notify_one();
    return true;
  }

  /// Returns memory of device_ that no frame uses any more, or new memory; null if there is none.
  std::shared_ptr<std::uint8_t[]> device_memory() {
    if (device_ == nullptr) return nullptr;
    const auto free = std::ranges::find(device_memory_, 1, &std::shared_ptr<std::uint8_t[]>::use_count);
    if (free != device_memory_.end()) return *free;
    try {
      return device_memory_.emplace_back(device_->allocate(frame_bytes_));
    } catch (const Error&) {
      return nullptr;  // the frame then goes through the host's memory
    }
  }

  /// Reads frames until the source ends, reading fails or stop() was called. The reading thread calls this.
  void read_all() {
    bool more = true;
    while (more) {
      try {
        more = wait_for_room() && read_next();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        fault_ = std::current_exception();
        more = false;
      }
    }
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      if (cuts_) cuts_->end();
    }
    arrived_.notify();
  }

  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return stopped_ || waiting_ < read_ahead_; });
    return !stopped_;
  }

  bool read_next() {
    Frame frame{.bytes = {}, .on_device = device_memory(), .size = frame_bytes_};
    std::int64_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      index = next_;
      if (!frame.on_device && !spare_.empty()) {
        frame.bytes = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (!frame.on_device) frame.bytes.resize(frame_bytes_);
    const auto start = Clock::now();
    bool there = false;
    {
      const TraceScope trace(trace_, "read", TraceTrack::input, 0, index);
      there = source_.read(index, frame.on_device ? frame.samples() : std::span(frame.bytes));
    }
    const auto end = Clock::now();
    std::optional<SceneCuts::Histogram> histogram;
    if (there && cuts_) histogram = histogram_of(frame.bytes);
    {
      const std::lock_guard lock(mutex_);
      reading_ += end - start;
      if (!there) return false;
      frames_.emplace(index, std::move(frame));
      if (histogram) cuts_->add(*histogram);
      ++next_;
      ++waiting_;
    }
    arrived_.notify();
    return true;
  }

  ChangeSignal& arrived_;
  const std::int64_t read_ahead_;
  const bool rewindable_;
  TraceSink* const trace_;
  const std::shared_ptr<FilmDevice> device_;  ///< the GPU in whose memory frames wait; null: they wait in the host's
  std::vector<std::shared_ptr<std::uint8_t[]>> device_memory_;  ///< that was allocated; used by the reading thread

  // Guarded by mutex_:
  std::condition_variable room_;
  std::map<std::int64_t, Frame> frames_;
  std::vector<std::vector<std::uint8_t>> spare_;  ///< unused buffers for later frames
  std::int64_t next_ = 0;     ///< number of frames that were read
  std::int64_t waiting_ = 0;  ///< frames that nobody has taken yet
  bool stopped_ = false;
  bool ended_ = false;
  std::jthread reader_;  ///< the last member, since it uses all others
};

}  // namespace

std::unique_ptr<FrameSupply> make_arriving_supply(FrameSource& source, const FrameSupplyOptions& options,
                                                  ChangeSignal& arrived) {
  return std::make_unique<ArrivingSupply>(source, options, arrived);
}

}  // namespace c63
