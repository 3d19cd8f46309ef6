#include "c63/encode_session.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "backend/backend.h"
#include "c63/error.h"
#include "threads/start_thread.h"

namespace c63 {
namespace {

/// A source that cannot seek, for pushed frames. It holds one frame at a time; the run's supply keeps frames that wait.
class PushSource final : public FrameSource {
 public:
  explicit PushSource(VideoFormat format) : format_(format) {}

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return std::nullopt; }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] bool read(std::int64_t /*index*/, std::span<std::uint8_t> frame) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !pushed_.empty() || finished_; });
    if (pushed_.empty()) return false;
    std::ranges::copy(pushed_, frame.begin());
    pushed_ = {};
    changed_.notify_all();
    return true;
  }

  void stop_waiting() override { finish(); }

  /// Gives a frame to the encoder, and waits until the encoder has copied it. Returns false if the encoder takes no
  /// more frames.
  bool push(std::span<const std::uint8_t> frame) {
    std::unique_lock lock(mutex_);
    if (finished_) return false;
    pushed_ = frame;
    changed_.notify_all();
    changed_.wait(lock, [this] { return pushed_.empty() || finished_; });
    return std::exchange(pushed_, {}).empty();
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

 private:
  VideoFormat format_;
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  std::span<const std::uint8_t> pushed_;  ///< empty if no frame waits
  bool finished_ = false;
};

}  // namespace

struct EncodeSession::State {
  explicit State(Encoder with)
      : encoder(std::move(with)),
        source({encoder.settings().coding.width, encoder.settings().coding.height, {}}),
        thread(start_thread([this](const std::stop_token& drop) { run(drop); })) {}

  ~State() { close(); }

  void close() {
    thread.request_stop();
    source.finish();
  }

  void run(const std::stop_token& drop) {
    std::exception_ptr why;
    EncodeSummary result;
    try {
      result = encoder.encode(
          source,
          [this](EncodedFrame&& frame) {
            const std::lock_guard lock(mutex);
            coded.push_back(std::move(frame));
            changed.notify_all();
          },
          {}, drop);
    } catch (...) {
      why = std::current_exception();
    }
    source.finish();  // wakes a thread that waits in push()
    const std::lock_guard lock(mutex);
    fault = why;
    summary = std::move(result);
    ended = true;
    changed.notify_all();
  }

  /// Removes the first coded frame and returns it. If there is none, throws the encoder's error or returns nullopt. The
  /// caller holds the mutex.
  std::optional<EncodedFrame> take() {
    if (coded.empty()) {
      if (fault) std::rethrow_exception(fault);
      return std::nullopt;
    }
    EncodedFrame frame = std::move(coded.front());
    coded.pop_front();
    return frame;
  }

  Encoder encoder;
  PushSource source;
  bool finished = false;  ///< only used by the pushing thread

  std::mutex mutex;  ///< guards the members below
  std::condition_variable changed;
  std::deque<EncodedFrame> coded;
  bool ended = false;
  std::exception_ptr fault;
  EncodeSummary summary;

  std::jthread thread;  ///< the last member, since it uses all others
};

EncodeSession::EncodeSession(EncoderSettings settings)
    : EncodeSession(std::move(settings), std::vector<BackendFactory>{open_cpu_backend}) {}

EncodeSession::EncodeSession(EncoderSettings settings, std::vector<BackendFactory> devices)
    : EncodeSession(Encoder(std::move(settings), std::move(devices))) {}

EncodeSession::EncodeSession(Encoder encoder) : state_(std::make_unique<State>(std::move(encoder))) {}

EncodeSession::~EncodeSession() = default;

void EncodeSession::push(std::span<const std::uint8_t> frame) {
  const CodingSettings& coding = state_->encoder.settings().coding;
  if (frame.size() != frame_bytes(coding.width, coding.height)) {
    throw Error(ErrorKind::usage, "C63-FRAME-SIZE",
                "a frame of " + std::to_string(frame.size()) + " bytes was pushed; " + std::to_string(coding.width) + "x" +
                    std::to_string(coding.height) + " takes " + std::to_string(frame_bytes(coding.width, coding.height)));
  }
  const bool is_open = !state_->finished && !state_->thread.get_stop_token().stop_requested();
  if (is_open && state_->source.push(frame)) return;
  // The frame was not taken. If an error is the reason, it may not be stored yet: the source ends first.
  if (is_open) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->ended; });
    if (state_->fault) std::rethrow_exception(state_->fault);
  }
  throw Error(ErrorKind::usage, "C63-SESSION-FINISHED", "a frame was pushed after finish() or close()");
}

std::optional<EncodedFrame> EncodeSession::poll() {
  const std::lock_guard lock(state_->mutex);
  return state_->take();
}

std::optional<EncodedFrame> EncodeSession::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return !state_->coded.empty() || state_->ended; });
  return state_->take();
}

void EncodeSession::finish() {
  state_->finished = true;
  state_->source.finish();
}

void EncodeSession::close() { state_->close(); }

EncodeSummary EncodeSession::summary() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->ended; });
  return state_->summary;
}

}  // namespace c63
