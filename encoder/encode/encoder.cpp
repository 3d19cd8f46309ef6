#include "c63/encoder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "decide/resolved_encode.h"
#include "c63/byte_count.h"
#include "c63/error.h"
#include "c63/thread_pool.h"
#include "c63/trace.h"
#include "encode/encode_run.h"

namespace c63 {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

constexpr std::int64_t kMostChains = 1024;

/// Returns the number of GOPs of the source, or an upper bound of it. The result is limited to 1..kMostChains.
std::int64_t gop_limit(const EncoderSettings& settings, const FrameSource& source) {
  const auto frames = source.frame_count();
  if (!frames) return kMostChains;
  // With scene cuts, every frame may be a GOP.
  const int frames_per_gop = settings.coding.scene_cuts ? 1 : settings.coding.key_interval;
  const std::int64_t gops = (*frames + frames_per_gop - 1) / frames_per_gop;
  return std::clamp<std::int64_t>(gops, 1, kMostChains);
}

/// Returns how many GOPs can be encoded at the same time within the memory limit. Half of the limit is kept for frames
/// and pictures that wait. Throws Error (limit) if one GOP does not fit.
int memory_chain_limit(const ResolvedEncode& encode, const FrameSource& source) {
  const EncoderSettings& settings = encode.settings;
  const std::uint64_t max_memory = settings.execution.limits.max_memory;
  constexpr std::uint64_t kFramesToSink = 8;  // the most frames of one chain that are finished and not yet with the sink
  const std::uint64_t most_bytes = encode.chain_bytes() + encode.lookahead_bytes() + kFramesToSink * encode.kept_bytes();
  if (most_bytes > max_memory) {
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                "encoding " + std::to_string(settings.coding.width) + "x" + std::to_string(settings.coding.height) +
                    " takes " + bytes_text(most_bytes) + "; the limit is " + bytes_text(max_memory) +
                    " (--max-memory)");
  }
  // The device adds the look-ahead's bytes, because only the device knows in which memory they are.
  auto limit = static_cast<std::int64_t>(std::clamp<std::uint64_t>(encode.chains_in_half(encode.chain_bytes()), 1, kMostChains));
  if (!source.seekable()) {
    // The memory for read frames has room for some whole GOPs. Each of them can have a chain, and so can the GOP that
    // is being read.
    limit = std::min(limit, 1 + encode.read_ahead_frames() / settings.coding.key_interval);
  }
  if (encode.kept_bytes() > 0) {
    // The division has two steps, because the bytes of a GOP may not fit in 64 bits.
    const std::uint64_t gops = encode.chains_in_half(encode.kept_bytes()) / static_cast<std::uint64_t>(settings.coding.key_interval);
    limit = static_cast<std::int64_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(limit), 1 + gops));
  }
  return static_cast<int>(limit);
}

/// Returns how many finished frames may wait for the sink. If it gets pictures with them, they take a quarter of the memory
/// limit at most.
std::size_t most_waiting(const ResolvedEncode& encode, std::size_t chains, std::size_t depth) {
  if (encode.kept_bytes() == 0) return chains * depth;
  const std::uint64_t room = encode.settings.execution.limits.max_memory / 4 / encode.kept_bytes();
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(room, 1, chains * depth));
}

/// Divides `all` into `parts` nearly equal shares and returns share `index`.
int share_of(int all, std::size_t parts, std::size_t index) {
  const auto n = static_cast<int>(parts);
  return all / n + (static_cast<int>(index) < all % n ? 1 : 0);
}

using Devices = std::vector<std::unique_ptr<Backend>>;

/// Opens the devices at the same time. Each gets its share of the chains; devices without a chain are not opened.
Devices open_devices(std::span<const BackendFactory> factories, const ResolvedEncode& encode, int max_chains) {
  const int lanes = encode.settings.execution.lanes;
  const int chains = lanes > 0 ? std::min(lanes, max_chains) : max_chains;
  const std::size_t count = std::min(factories.size(), static_cast<std::size_t>(chains));
  Devices devices(count);
  encode.settings.execution.pool->execute([&] {
    parallel_for(count, [&](std::size_t i) {
      const int share = share_of(chains, count, i);
      ResolvedEncode own = encode;
      if (lanes > 0) own.settings.execution.lanes = share;
      devices[i] = factories[i](own, share);
    });
  });
  return devices;
}

/// The open devices, and the `max_chains` with which they were opened.
struct OpenDevices {
  Devices devices;
  int limit = 0;

  [[nodiscard]] int chains() const {
    int sum = 0;
    for (const auto& device : devices) sum += device->info().chains;
    return sum;
  }
  [[nodiscard]] int parallelism() const {
    int sum = 0;
    for (const auto& device : devices) sum += device->info().parallelism;
    return sum;
  }
  [[nodiscard]] std::vector<std::string> descriptions() const {
    std::vector<std::string> all;
    for (const auto& device : devices) all.push_back(device->info().description);
    return all;
  }
  void describe(EncodeSummary& summary) const {
    summary.backend.clear();
    for (const std::string& device : descriptions()) summary.backend += (summary.backend.empty() ? "" : ", ") + device;
    summary.lanes = chains();
  }
  /// Returns true if opening the devices again with `max_chains` would give the same number of chains.
  [[nodiscard]] bool serve(int max_chains) const {
    if (devices.empty()) return false;
    return max_chains == limit || (chains() < limit && chains() <= max_chains);
  }
};

}  // namespace

StageTimes& StageTimes::operator+=(const StageTimes& other) {
  for (const auto stage :
       {&StageTimes::read, &StageTimes::upload, &StageTimes::motion, &StageTimes::transform, &StageTimes::measure,
        &StageTimes::entropy, &StageTimes::download, &StageTimes::write, &StageTimes::lookahead, &StageTimes::filter}) {
    this->*stage += other.*stage;
  }
  return *this;
}

BitCounts& BitCounts::operator+=(const BitCounts& other) {
  for (const auto kind : {&BitCounts::header, &BitCounts::motion, &BitCounts::luma, &BitCounts::chroma}) {
    this->*kind += other.*kind;
  }
  return *this;
}

struct Encoder::State {
  EncoderSettings settings;
  std::vector<BackendFactory> devices;
  PlannerFactory planners = {};  ///< empty: the preset's
  BackendFactory fallback = {};
  std::function<void(const std::string&)> on_fallback = {};
  std::function<void(std::int64_t)> on_drain = {};
  std::optional<std::vector<std::int64_t>> scene_starts = {};
  OpenDevices kept = {};  ///< the open devices from one encode to the next, if the settings ask to keep them
};

Encoder::Encoder(EncoderSettings settings) : Encoder(std::move(settings), open_cpu_backend) {}

Encoder::Encoder(EncoderSettings settings, BackendFactory device)
    : Encoder(std::move(settings), std::vector<BackendFactory>{std::move(device)}) {}

Encoder::Encoder(EncoderSettings settings, std::vector<BackendFactory> devices)
    : state_(std::make_unique<State>(State{std::move(settings), std::move(devices)})) {
  validate(state_->settings);
  if (state_->devices.empty()) throw Error(ErrorKind::usage, "C63-NO-DEVICE", "no device was given: an encoder needs at least one BackendFactory");
  if (!state_->settings.execution.pool) {
    state_->settings.execution.pool = std::make_shared<ThreadPool>(state_->settings.execution.threads);
  }
}

Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

const EncoderSettings& Encoder::settings() const { return state_->settings; }

void Encoder::set_fallback(BackendFactory factory, std::function<void(const std::string&)> on_fallback) {
  state_->fallback = std::move(factory);
  state_->on_fallback = std::move(on_fallback);
}

void Encoder::set_on_drain(std::function<void(std::int64_t frames)> on_drain) { state_->on_drain = std::move(on_drain); }

void Encoder::set_scene_starts(std::vector<std::int64_t> frames) { state_->scene_starts = std::move(frames); }

void Encoder::set_planner(PlannerFactory planner) { state_->planners = std::move(planner); }

namespace {

/// Gives frames to the sink, and adds up their statistics.
class Delivery {
 public:
  Delivery(const Encoder::Sink& sink, EncodeSummary& summary, FrameSupply& supply, TraceRow& trace)
      : sink_(sink), summary_(summary), supply_(supply), trace_(trace) {}

  void deliver(CodedFrame&& coded) {
    EncodedFrame& frame = coded.frame;
    const std::int64_t index = frame.index;
    stages_ += frame.statistics.times;
    ++summary_.frames;
    summary_.key_frames += frame.key ? 1 : 0;
    summary_.bytes += frame.bytes.size();
    if (frame.key) {
      last_key_ = index;
      supply_.forget_before(index);
      end_gop();
    }
    device_ = static_cast<std::size_t>(coded.device);
    if (device_ >= shares_.size()) shares_.resize(device_ + 1);
    ++shares_[device_].frames;
    const auto handed_out = Clock::now();
    frame.statistics.latency_ms = milliseconds(handed_out - coded.ready);
    sink_(std::move(frame));
    next_ = index + 1;
    writing_ms_ += milliseconds(trace_.did("write", index) - handed_out);
  }

  /// Adds what the devices of a run have encoded to the summary. `devices` has their names, in order.
  void end_run(std::span<const std::string> devices) {
    end_gop();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      DeviceShare share = i < shares_.size() ? shares_[i] : DeviceShare{};
      share.description = devices[i];
      summary_.devices.push_back(std::move(share));
    }
    shares_.clear();
  }

  [[nodiscard]] std::int64_t next() const { return next_; }
  [[nodiscard]] std::int64_t last_key() const { return last_key_; }
  [[nodiscard]] const StageTimes& stages() const { return stages_; }
  [[nodiscard]] double writing_ms() const { return writing_ms_; }

 private:
  /// Counts a finished GOP for the device that encoded its last frame.
  void end_gop() {
    if (device_ < shares_.size()) ++shares_[device_].gops;
    device_ = kNoDevice;
  }

  static constexpr std::size_t kNoDevice = std::numeric_limits<std::size_t>::max();

  const Encoder::Sink& sink_;
  EncodeSummary& summary_;
  FrameSupply& supply_;
  TraceRow& trace_;
  std::atomic<std::int64_t> next_ = 0;  ///< also read by the thread that requests a stop
  std::int64_t last_key_ = 0;
  StageTimes stages_;
  double writing_ms_ = 0;
  std::vector<DeviceShare> shares_;   ///< shares of the devices of this run
  std::size_t device_ = kNoDevice;    ///< the device that encoded the last frame
};

}  // namespace

EncodeSummary Encoder::encode(FrameSource& source, const Sink& sink, std::stop_token stop, std::stop_token drop) {
  const ResolvedEncode encode = resolve(state_->settings, state_->planners);
  const EncoderSettings& settings = encode.settings;
  const VideoFormat format = source.format();
  if (format.width != settings.coding.width || format.height != settings.coding.height) {
    throw Error(ErrorKind::usage, "C63-SIZE-MISMATCH",
                "the source is " + std::to_string(format.width) + "x" + std::to_string(format.height) +
                    ", the settings say " + std::to_string(settings.coding.width) + "x" + std::to_string(settings.coding.height));
  }

  EncodeSummary summary;
  const int max_chains = std::min(static_cast<int>(gop_limit(settings, source)), memory_chain_limit(encode, source));
  TraceRow trace(settings.measurement.trace, TraceTrack::loop);
  const auto open_start = Clock::now();
  OpenDevices open = std::exchange(state_->kept, {});
  const auto open_anew = [&](std::span<const BackendFactory> factories, int chains) {
    open.devices.clear();  // closes the earlier devices first, because the new ones need their memory
    open = {open_devices(factories, encode, chains), chains};
  };
  bool may_fall_back = state_->fallback != nullptr;
  bool fell_back = false;
  const auto fall_back = [&](const Error& fault) {
    may_fall_back = false;
    fell_back = true;
    if (state_->on_fallback) state_->on_fallback(fault.what());
    open_anew({&state_->fallback, 1}, max_chains);
  };
  try {
    if (!open.serve(max_chains)) open_anew(state_->devices, max_chains);
  } catch (const Error& fault) {
    if (fault.kind() != ErrorKind::device || !may_fall_back) throw;
    fall_back(fault);
  }
  // If a device fails, unfinished GOPs are coded again. A source that cannot seek gives each frame only once, so this
  // needs memory for a whole GOP.
  may_fall_back = may_fall_back && (source.seekable() || encode.holds_a_gop());
  const auto start = trace.did("open");
  summary.start_up_ms = milliseconds(start - open_start);

  ChangeSignal changes;
  const FrameSupplyOptions supply_options{.scene_cuts = settings.coding.scene_cuts,
                                          .scene_starts = state_->scene_starts,
                                          .rewindable = may_fall_back,
                                          .read_ahead = encode.read_ahead_frames(),
                                          .pool = settings.execution.pool.get(),
                                          .trace = settings.measurement.trace};
  const std::unique_ptr<FrameSupply> supply = source.seekable() ? make_seeking_supply(source, supply_options)
                                                                : make_arriving_supply(source, supply_options, changes);
  Delivery delivery(sink, summary, *supply, trace);
  const bool drains = !source.seekable() && source.live();
  const std::stop_callback on_stop(stop, [&] {
    const std::int64_t waiting = supply->frames_read() - delivery.next();
    if (drains && waiting > 0 && state_->on_drain) state_->on_drain(waiting);
  });
  const bool keeps_pictures = encode.kept_bytes() > 0;
  for (bool done = false; !done;) {
    open.describe(summary);
    const auto chains = static_cast<std::size_t>(summary.lanes);
    int depth = 1;
    for (const auto& device : open.devices) depth = std::max(depth, device->info().depth);
    EncodeRun run(encode, open.devices, *supply, changes,
                  {.first_frame = delivery.last_key(),
                   .delivered = delivery.next(),
                   .window = keeps_pictures ? chains + 1 : 2 * chains,
                   .most_waiting = most_waiting(encode, chains, static_cast<std::size_t>(depth)),
                   .first_stop = drains ? StopLevel::drain : StopLevel::finish});
    std::exception_ptr ended;
    try {
      run.run(trace, {.stop = stop, .drop = drop}, [&](CodedFrame&& frame) { delivery.deliver(std::move(frame)); });
      done = true;
    } catch (...) {
      ended = std::current_exception();
    }
    delivery.end_run(open.descriptions());
    try {
      if (ended) std::rethrow_exception(ended);
    } catch (const Error& fault) {
      if (fault.kind() != ErrorKind::device || !may_fall_back) throw fault.at({.frame = delivery.next()});
      fall_back(fault);
      supply->rewind(delivery.last_key());
      trace.did("open");
    }
  }
  summary.stopped = stop.stop_requested() || drop.stop_requested();
  if (summary.stopped && drains) summary.dropped = supply->frames_read() - summary.frames;
  summary.elapsed_ms = milliseconds(trace.did("finish") - start);
  const auto share = [&](double ms) { return summary.elapsed_ms > 0 ? std::clamp(ms / summary.elapsed_ms, 0.0, 1.0) : 0; };
  const StageTimes& stages = delivery.stages();
  const double coding_ms = stages.motion + stages.transform + stages.measure + stages.entropy;
  summary.load = {.reading = share(supply->reading_ms()),
                  .bus = share(stages.upload / open.parallelism()),
                  .coding = share(coding_ms / open.parallelism()),
                  .writing = share(delivery.writing_ms()),
                  .looking_ahead = share((stages.lookahead + stages.filter) / open.parallelism())};
  if (settings.execution.keep_devices && !fell_back && !drop.stop_requested()) state_->kept = std::move(open);
  return summary;
}

std::vector<std::uint8_t> encode(std::span<const std::uint8_t> frames, const EncoderSettings& settings) {
  Encoder encoder(settings);
  MemorySource source(frames, {settings.coding.width, settings.coding.height, {}});
  std::vector<std::uint8_t> stream;
  encoder.encode(source, [&](EncodedFrame&& frame) {
    stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end());
  });
  return stream;
}

}  // namespace c63
