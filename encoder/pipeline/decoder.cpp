#include "c63/decoder.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "c63/error.h"
#include "c63/thread_arena.h"
#include "c63/trace.h"
#include "pipeline/frame_chain.h"
#include "pipeline/stream_reader.h"
#include "threads/work_threads.h"

namespace c63 {
namespace {

using Clock = std::chrono::steady_clock;

std::shared_ptr<ThreadArena> arena_of(const DecoderSettings& settings) {
  const ExecutionSettings& execution = settings.execution;
  return execution.arena ? execution.arena : std::make_shared<ThreadArena>(execution.threads);
}

/// Bytes of one decoded frame as it is handed out.
std::uint64_t decoded_bytes(const DecoderSettings& settings, const Geometry& geometry) {
  return (settings.keep_prediction ? 2 : 1) * static_cast<std::uint64_t>(geometry.frame_bytes());
}

/// Throws Error (limit) where not even one chain and what it hands out fit the memory limit.
void require_memory(const DecoderSettings& settings, const Geometry& geometry) {
  const std::uint64_t needed = FrameChain::memory(geometry) + 2 * decoded_bytes(settings, geometry);
  if (needed > settings.execution.limits.max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "decoding " + std::to_string(geometry.width()) + "x" + std::to_string(geometry.height()) + " takes " +
                    std::to_string(needed) + " bytes, the limit is " + std::to_string(settings.execution.limits.max_memory) +
                    " (--max-memory)", {.frame = 0});
  }
}

/// A frame to decode, or a run of repeats: each of them is 4 bytes for a whole picture, and there may be millions.
struct CodedRun {
  StreamFrame frame;           ///< the first one
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t end() const { return frame.index + count; }
};

struct DecodedRun {
  DecodedFrame frame;          ///< the first one; without samples where none of the run is wanted
  std::int64_t count = 1;
};

/// Decodes `coded` with a chain; faults and results are placed in the stream. Frames that are not `wanted` have no samples.
DecodedFrame decode_in_stream(FrameChain& chain, const StreamFrame& coded, bool wanted, TraceRow& trace) {
  try {
    DecodedFrame frame = chain.decode(coded.parsed, coded.index, wanted, trace);
    frame.index = coded.index;
    frame.offset = coded.offset;
    return frame;
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    place.frame = coded.index;
    place.offset = static_cast<std::int64_t>(coded.offset) + place.offset.value_or(0);
    throw Error(error.kind(), error.id(), error.message(), std::move(place));
  }
}

/// Decodes the GOPs of a stream side by side and hands out their frames in order.
class ParallelDecode {
 public:
  ParallelDecode(const DecoderSettings& settings, ByteSource& source)
      : settings_(settings),
        arena_(arena_of(settings)),
        threads_(arena_->concurrency()),
        reader_(source, settings.execution.limits),
        loop_(settings.trace, TraceTrack::loop),
        workers_(make_workers(settings, threads_)),
        pool_(*arena_, static_cast<std::size_t>(threads_) + 1) {}

  ~ParallelDecode() {
    std::unique_lock lock(mutex_);
    for (Gop& gop : gops_) gop.coded.clear();
    changed_.wait(lock, [this] { return running_ == 0; });
    for (Worker& worker : workers_) worker.trace.did("idle");
  }

  ParallelDecode(const ParallelDecode&) = delete;
  ParallelDecode& operator=(const ParallelDecode&) = delete;

  DecodeSummary run(const Decoder::Sink& sink, const std::stop_token& stop) {
    const auto start = loop_.did("open");
    DecodeSummary summary;
    std::exception_ptr fault;
    bool more = true;
    while (!wants_no_more(summary)) {
      if (stop.stop_requested()) {
        summary.stopped = true;
        break;
      }
      if (more && has_room()) {
        try {
          more = read_frame();
        } catch (...) {
          fault = std::current_exception();
          more = false;
        }
        if (!more && !gops_.empty()) gops_.back().complete = true;
        loop_.did("read");
      }
      auto run = take_run(/*wait=*/!more || !has_room());
      loop_.did("wait");
      if (!run) {
        if (!more && gops_.empty()) break;
        continue;
      }
      hand_out(std::move(*run), sink, stop, summary);
    }
    summary.bytes = reader_.offset();
    summary.elapsed_ms = std::chrono::duration<double, std::milli>(loop_.did("finish") - start).count();
    if (fault && !summary.stopped && !wants_no_more(summary)) std::rethrow_exception(fault);
    return summary;
  }

 private:
  struct Gop {
    explicit Gop(const DecoderSettings& settings) : chain(settings) {}
    FrameChain chain;
    std::deque<CodedRun> coded;
    std::deque<DecodedRun> decoded;
    std::exception_ptr fault;
    bool complete = false;  ///< all its coded frames are here
    bool running = false;
  };

  /// A thread at work, as a trace shows it.
  struct Worker {
    TraceRow trace;
    bool busy = false;
  };

  static Worker make_worker(const DecoderSettings& settings, std::size_t index) {
    return {.trace = {settings.trace, TraceTrack::thread, static_cast<int>(index)}};
  }
  static std::deque<Worker> make_workers(const DecoderSettings& settings, int count) {
    std::deque<Worker> workers;
    while (static_cast<int>(workers.size()) < count) workers.push_back(make_worker(settings, workers.size()));
    return workers;
  }

  /// The first worker that is not busy is so now. The mutex is held.
  Worker& begin_work() {
    const auto free = std::ranges::find(workers_, false, &Worker::busy);
    Worker& worker = free != workers_.end() ? *free : workers_.emplace_back(make_worker(settings_, workers_.size()));
    worker.busy = true;
    worker.trace.did("idle");
    return worker;
  }

  [[nodiscard]] bool wants_no_more(const DecodeSummary& summary) const {
    return settings_.max_frames >= 0 && summary.frames >= settings_.max_frames;
  }

  /// Whether one of them may have to be handed out.
  [[nodiscard]] bool is_wanted(const CodedRun& run) const { return run.end() > settings_.first_frame; }

  /// Hands out the frames of a run that are wanted.
  void hand_out(DecodedRun&& run, const Decoder::Sink& sink, const std::stop_token& stop, DecodeSummary& summary) {
    summary.width = run.frame.width;
    summary.height = run.frame.height;
    const std::int64_t first = run.frame.index;
    const std::uint64_t offset = run.frame.offset;
    for (std::int64_t i = std::max<std::int64_t>(0, settings_.first_frame - first); i < run.count; ++i) {
      if (wants_no_more(summary) || stop.stop_requested()) return;
      DecodedFrame frame = i + 1 < run.count ? run.frame : std::move(run.frame);
      frame.index = first + i;
      frame.offset = offset + static_cast<std::uint64_t>(i) * frame.coded_bytes;
      ++summary.frames;
      sink(std::move(frame));
      loop_.did("write", first + i);
    }
  }

  /// Whether another coded frame may be read: a frame kept back by a full set of GOPs goes first.
  [[nodiscard]] bool has_room() {
    const std::lock_guard lock(mutex_);
    if (held_back_) return gops_.size() < max_gops_;
    return waiting_frames_ < kMaxCodedFrames &&
           (waiting_frames_ < 2 || waiting_bytes_ < settings_.execution.limits.max_memory / 4);
  }

  // Coded frames come and go by these two, with the mutex held.
  void add_coded(Gop& gop, CodedRun&& run) {
    waiting_frames_ += run.count;
    waiting_bytes_ += run.frame.bytes.size();
    gop.coded.push_back(std::move(run));
  }
  CodedRun take_coded(Gop& gop) {
    CodedRun run = std::move(gop.coded.front());
    gop.coded.pop_front();
    waiting_frames_ -= run.count;
    waiting_bytes_ -= run.frame.bytes.size();
    return run;
  }

  /// Reads one coded frame and gives it to its GOP; false at the end of the stream.
  bool read_frame() {
    std::optional<StreamFrame> frame = held_back_ ? std::exchange(held_back_, std::nullopt) : reader_.next();
    if (!frame) return false;
    CodedRun run;
    if (frame->parsed.size == kRepeatFrameBytes) run.count += reader_.take_repeats();
    if (gops_.empty() && !geometry_) plan_memory(frame->parsed.geometry);
    const std::lock_guard lock(mutex_);
    if (frame->parsed.key) {
      if (!gops_.empty()) {
        // GOPs that end before the first wanted frame need no decoding.
        if (frame->index <= settings_.first_frame && !gops_.back().running) {
          while (!gops_.back().coded.empty()) take_coded(gops_.back());
          gops_.pop_back();
        } else {
          gops_.back().complete = true;
        }
      }
      if (gops_.size() >= max_gops_) {
        held_back_ = std::move(frame);
        return true;
      }
      gops_.emplace_back(settings_);
    }
    run.frame = std::move(*frame);
    const bool wanted = is_wanted(run);
    add_coded(gops_.back(), std::move(run));
    if (wanted) start(gops_.back());
    return true;
  }

  void plan_memory(const Geometry& geometry) {
    geometry_ = geometry;
    require_memory(settings_, geometry);
    // A quarter for coded frames, a quarter for chains, half for decoded frames that wait for their turn.
    const std::uint64_t quarter = settings_.execution.limits.max_memory / 4;
    max_gops_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(quarter / FrameChain::memory(geometry), 1,
                                                                   static_cast<std::uint64_t>(threads_) + 1));
    max_decoded_ = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(2 * quarter / max_gops_ / decoded_bytes(settings_, geometry), 2, 1024));
  }

  /// Starts decoding a GOP where there is something to do and room for the result. The mutex is held.
  void start(Gop& gop) {
    if (gop.running || gop.coded.empty() || gop.fault || gop.decoded.size() >= max_decoded_) return;
    gop.running = true;
    ++running_;
    pool_.post({[](void* gop_to_decode, std::size_t self) noexcept {
                  reinterpret_cast<ParallelDecode*>(self)->decode(*static_cast<Gop*>(gop_to_decode));
                },
                &gop, reinterpret_cast<std::size_t>(this)});
  }

  /// Decodes what a GOP has, as far as there is room for it.
  void decode(Gop& gop) {
    std::unique_lock lock(mutex_);
    Worker& worker = begin_work();
    while (!gop.coded.empty() && !gop.fault && gop.decoded.size() < max_decoded_) {
      const CodedRun coded = take_coded(gop);
      lock.unlock();
      std::optional<DecodedRun> decoded;
      std::exception_ptr fault;
      try {
        decoded = {decode_in_stream(gop.chain, coded.frame, is_wanted(coded), worker.trace), coded.count};
      } catch (...) {
        fault = std::current_exception();
      }
      lock.lock();
      try {
        if (decoded) gop.decoded.push_back(std::move(*decoded));
      } catch (...) {
        fault = std::current_exception();  // no memory
      }
      gop.fault = fault;
      changed_.notify_all();
    }
    worker.busy = false;
    gop.running = false;
    --running_;
    changed_.notify_all();  // under the lock: the destructor may be what waits
  }

  /// The next frames in order; nothing where they are not there yet, or there are no more. With `wait`, waits for them.
  std::optional<DecodedRun> take_run(bool wait) {
    std::unique_lock lock(mutex_);
    while (!gops_.empty()) {
      Gop& gop = gops_.front();
      if (!gop.decoded.empty()) {
        DecodedRun run = std::move(gop.decoded.front());
        gop.decoded.pop_front();
        start(gop);
        return run;
      }
      if (gop.running) {
        if (!wait) return std::nullopt;
        changed_.wait(lock);
        continue;
      }
      if (gop.fault) std::rethrow_exception(gop.fault);
      if (!gop.coded.empty()) {  // frames before the first wanted one, which may yet turn out to be needless
        if (!wait) return std::nullopt;
        start(gop);
        continue;
      }
      if (!gop.complete) return std::nullopt;
      gops_.pop_front();
    }
    return std::nullopt;
  }

  static constexpr std::int64_t kMaxCodedFrames = 1024;

  const DecoderSettings& settings_;
  std::shared_ptr<ThreadArena> arena_;
  int threads_;
  StreamReader reader_;
  std::optional<Geometry> geometry_;
  std::size_t max_gops_ = 1;
  std::size_t max_decoded_ = 2;
  std::optional<StreamFrame> held_back_;  ///< the key frame of a GOP that found no room

  TraceRow loop_;
  std::deque<Worker> workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Gop> gops_;  ///< in order of the stream
  std::int64_t waiting_frames_ = 0;  ///< coded ones of all GOPs
  std::uint64_t waiting_bytes_ = 0;  ///< of these
  int running_ = 0;
  WorkThreads pool_;  ///< last: its threads use all of the above; a task for each GOP at most
};

/// A stream in memory.
class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = std::min(bytes.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, bytes.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace

Decoder::Decoder(DecoderSettings settings) : settings_(std::move(settings)) {}

DecodeSummary Decoder::decode(ByteSource& source, const Sink& sink, std::stop_token stop) {
  return ParallelDecode(settings_, source).run(sink, stop);
}

DecodeSummary Decoder::decode(std::span<const std::uint8_t> stream, const Sink& sink, std::stop_token stop) {
  MemoryBytes source(stream);
  return decode(source, sink, std::move(stop));
}

struct FrameDecoder::State {
  explicit State(const DecoderSettings& decoder_settings)
      : settings(decoder_settings), parser(settings.execution.limits), chain(settings),
        trace(settings.trace, TraceTrack::thread) {}

  /// Decodes one frame; places of faults are from its start.
  DecodedFrame decode(std::span<const std::uint8_t> bytes) {
    const bool chain_is_broken = std::exchange(broken, true);  // until this frame is decoded
    const ParsedFrame parsed = parser.parse(bytes);
    if (chain_is_broken && !parsed.key) {
      throw Error(ErrorKind::input, "C63-NO-REFERENCE", "only a key frame can follow a frame that could not be decoded",
                  {.offset = 0});
    }
    if (parsed.size != bytes.size()) {
      throw Error(ErrorKind::input, "C63-FRAME-TRAILING", "bytes past the end of the frame",
                  {.offset = static_cast<std::int64_t>(parsed.size)});
    }
    if (index == 0) require_memory(settings, parsed.geometry);
    trace.did("idle");
    DecodedFrame frame = chain.decode(parsed, index, /*wanted=*/true, trace);
    frame.index = index++;
    frame.offset = std::exchange(offset, offset + parsed.size);
    broken = false;
    return frame;
  }

  DecoderSettings settings;
  FrameParser parser;
  FrameChain chain;
  TraceRow trace;
  std::int64_t index = 0;
  std::uint64_t offset = 0;
  bool broken = false;  ///< the frame before could not be decoded
};

FrameDecoder::FrameDecoder(DecoderSettings settings) : state_(std::make_unique<State>(settings)) {}
FrameDecoder::~FrameDecoder() = default;
FrameDecoder::FrameDecoder(FrameDecoder&&) noexcept = default;
FrameDecoder& FrameDecoder::operator=(FrameDecoder&&) noexcept = default;

DecodedFrame FrameDecoder::decode(std::span<const std::uint8_t> bytes) {
  try {
    return state_->decode(bytes);
  } catch (const Error& error) {
    throw error.at({.frame = state_->index});
  }
}

std::vector<std::uint8_t> decode(std::span<const std::uint8_t> stream, const DecoderSettings& settings) {
  std::vector<std::uint8_t> frames;
  Decoder(settings).decode(stream, [&](DecodedFrame&& frame) {
    frames.insert(frames.end(), frame.picture.begin(), frame.picture.end());
  });
  return frames;
}

}  // namespace c63
