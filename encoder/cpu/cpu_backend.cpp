#include <oneapi/tbb/parallel_for_each.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "c63/thread_arena.h"
#include "c63/trace.h"
#include "cpu/gop_chain.h"
#include "threads/work_threads.h"

namespace c63::cpu {
namespace {

/// The number of frames that a chain works on at the same time: one is searched, one is entropy coded, and one is read
/// from the source.
constexpr int kDepth = 3;

/// Memory for one frame of a chain: its samples, and from submit() until collect() also its plan and its result.
struct Slot {
  PaddedPicture picture;  ///< the input
  ChainFrame frame;
  CodedFrame coded;
  bool finished = false;
  std::exception_ptr fault;
};

/// A chain and its frames. The memory for their samples, levels and vectors is allocated when the backend is opened.
struct ScheduledChain {
  std::optional<GopChain> chain;
  std::array<Slot, kDepth> slots;
  TraceRow trace;  ///< written by the task that runs the chain

  // How many frames of the chain were submitted, started and collected so far. The backend's mutex guards changes of
  // these numbers. Frame n is in slot n modulo kDepth.
  std::int64_t submitted = 0;
  std::int64_t started = 0;
  std::int64_t collected = 0;
  bool running = false;

  [[nodiscard]] Slot& slot(std::int64_t number) { return slots[static_cast<std::size_t>(number % kDepth)]; }
};

/// Runs the chains on threads. Only one thread at a time codes frames of a chain. If there are more threads than
/// chains, another thread may write the bytes of a coded frame while the next frame of the chain is coded.
class CpuBackend final : public Backend {
 public:
  CpuBackend(const ResolvedEncode& encode, int max_chains)
      : settings_(encode.settings),
        arena_(*settings_.execution.arena),
        chains_(static_cast<std::size_t>(chain_count(encode, max_chains))),
        writes_beside_(static_cast<int>(chains_.size()) < arena_.concurrency()),
        threads_(arena_, chains_.size() * (kDepth + 1)) {
    const Kernels& kernels = cpu::kernels(settings_.execution.simd);
    // The chains are made in parallel, because their memory takes long to fill: 0.4 s for all chains at 1920x1080.
    arena_.execute([&] {
      oneapi::tbb::parallel_for_each(chains_, [&](ScheduledChain& chain) {
        chain.chain.emplace(encode, kernels);
        for (Slot& slot : chain.slots) slot.picture = PaddedPicture(encode.geometry);
        chain.trace = TraceRow(settings_.measurement.trace, TraceTrack::lane, index_of(chain));
      });
    });
    const int concurrency = arena_.concurrency();
    info_.description = "cpu (" + std::string(name(kernels.level)) + ", " + std::to_string(concurrency) +
                        (concurrency == 1 ? " thread)" : " threads)");
    info_.chains = info_.inputs = static_cast<int>(chains_.size());
    info_.depth = kDepth;
    info_.parallelism = std::min(info_.chains, concurrency);
  }

  ~CpuBackend() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return tasks_ == 0; });
    for (ScheduledChain& chain : chains_) chain.trace.did("no input");
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }

  [[nodiscard]] std::span<std::uint8_t> input(int number) override {
    ScheduledChain& chain = chains_[static_cast<std::size_t>(number)];
    return chain.slot(chain.submitted).picture.input();
  }

  void submit(std::span<const ChainFrame> frames) override {
    for (const ChainFrame& f : frames) {
      ScheduledChain& chain = chains_[static_cast<std::size_t>(f.chain)];
      Slot& slot = chain.slot(chain.submitted);
      slot.frame = f;
      slot.coded = {.chain = f.chain, .frame = {}, .ready = f.ready};
      slot.coded.frame.statistics.times = f.times;
      slot.finished = false;
      slot.fault = nullptr;
      const std::lock_guard lock(mutex_);
      ++chain.submitted;
      run_if_possible(chain);
    }
  }

  void collect(std::vector<CodedFrame>& finished) override {
    std::unique_lock lock(mutex_);
    for (;;) {
      for (ScheduledChain& chain : chains_) {
        while (chain.collected < chain.submitted && chain.slot(chain.collected).finished) {
          Slot& slot = chain.slot(chain.collected);
          if (slot.fault) std::rethrow_exception(slot.fault);
          finished.push_back(std::move(slot.coded));
          ++chain.collected;
        }
      }
      if (!finished.empty() || dropped_) return;
      finished_.wait(lock);
    }
  }

  void drop() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      dropped_ = true;
    }
    finished_.notify_all();
  }

 private:
  /// Returns execution.lanes, at most max_chains. With a look-ahead, the memory limit may allow fewer. If lanes is 0,
  /// there is one more chain than threads, so that the last GOP is not coded alone; with a single thread there is one.
  [[nodiscard]] static int chain_count(const ResolvedEncode& encode, int max_chains) {
    const ExecutionSettings& execution = encode.settings.execution;
    const int threads = execution.arena->concurrency();
    const int wanted = execution.lanes > 0 ? execution.lanes : threads == 1 ? 1 : threads + 1;
    std::uint64_t most = static_cast<std::uint64_t>(max_chains);
    // The memory limit also covers the frames of the look-ahead, so there are fewer chains if a look-ahead is used.
    if (encode.lookahead.any()) most = std::min(most, encode.chains_in_half(encode.chain_bytes() + encode.lookahead_bytes()));
    return std::clamp(wanted, 1, std::max(1, static_cast<int>(most)));
  }
  [[nodiscard]] int index_of(const ScheduledChain& chain) const { return static_cast<int>(&chain - chains_.data()); }

  /// Posts the member function kTask as a task. The function must call end_task() when it is done. The caller holds the
  /// mutex.
  template <auto kTask>
  void post(std::size_t argument) {
    ++tasks_;
    threads_.post({[](void* backend, std::size_t value) noexcept { (static_cast<CpuBackend*>(backend)->*kTask)(value); },
                   this, argument});
  }

  /// Counts a task as ended. After the last one, the destructor may go on. The caller holds the mutex.
  void end_task() {
    if (--tasks_ == 0) idle_.notify_all();
  }

  /// Posts a task that runs the chain, unless a task runs it already or may_start() is false. A chain may start if it
  /// has a frame to code and drop() was not called. Also, the older frame whose syntax elements this frame overwrites
  /// must have been entropy coded. The caller holds the mutex.
  void run_if_possible(ScheduledChain& chain) {
    if (chain.running || !may_start(chain)) return;
    chain.running = true;
    post<&CpuBackend::run>(static_cast<std::size_t>(index_of(chain)));
  }
  [[nodiscard]] bool may_start(ScheduledChain& chain) const {
    if (chain.started == chain.submitted || dropped_) return false;
    const std::int64_t before = chain.started - GopChain::kUnwritten;
    return before < chain.collected || chain.slot(before).finished;
  }

  /// Codes the frames of a chain one after another, while may_start() is true. If threads_.should_yield() returns true
  /// before that, run() ends, and a new task continues with the chain.
  void run(std::size_t index) noexcept {
    ScheduledChain& chain = chains_[index];
    std::unique_lock lock(mutex_);
    bool handed_on = false;
    while (!handed_on && may_start(chain)) {
      const std::int64_t number = chain.started++;
      lock.unlock();
      code(chain, number);
      if (!writes_beside_) write(chain, number);
      lock.lock();
      if (!writes_beside_) finish(chain, number);
      handed_on = may_start(chain) && threads_.should_yield();
      if (handed_on) post<&CpuBackend::run>(index);
      if (!writes_beside_) continue;
      const std::size_t written = static_cast<std::size_t>(number) * chains_.size() + index;
      if (!handed_on) {
        post<&CpuBackend::write_beside>(written);
        continue;
      }
      // This thread writes the frame itself instead of waking a worker for it. That worker might take the task that
      // continues the chain, and then nobody would write the frame soon.
      ++tasks_;
      lock.unlock();
      write_beside(written);
      lock.lock();
    }
    if (!handed_on) chain.running = false;
    end_task();
  }

  /// Writes the bytes of a coded frame, while another thread may code the chain's next frame. `argument` is the frame's
  /// number times the number of chains, plus the index of the chain.
  void write_beside(std::size_t argument) noexcept {
    ScheduledChain& chain = chains_[argument % chains_.size()];
    const auto number = static_cast<std::int64_t>(argument / chains_.size());
    write(chain, number);
    const std::lock_guard lock(mutex_);
    finish(chain, number);
    run_if_possible(chain);
    end_task();
  }

  void code(ScheduledChain& chain, std::int64_t number) noexcept {
    Slot& slot = chain.slot(number);
    try {
      chain.trace.did("no input", -1, slot.frame.ready);
      // From submit() until now, the frame waited. Either no thread was free, or the syntax elements that the frame
      // overwrites were not yet entropy coded.
      chain.trace.did("queued", slot.frame.plan.index);
      slot.picture.lay_out();
      chain.trace.did("load", slot.frame.plan.index);
      const auto original = slot.frame.original ? std::span(*slot.frame.original) : std::span<const std::uint8_t>();
      chain.chain->code(number, {slot.picture, original}, slot.frame.plan, slot.coded.frame, chain.trace);
      slot.frame.original = nullptr;
    } catch (...) {
      slot.fault = std::current_exception();
    }
  }

  void write(ScheduledChain& chain, std::int64_t number) noexcept {
    Slot& slot = chain.slot(number);
    if (slot.fault) return;
    try {
      const TraceScope trace(writes_beside_ ? settings_.measurement.trace : nullptr, "entropy", TraceTrack::entropy,
                             index_of(chain), slot.frame.plan.index);
      chain.chain->write(number, slot.frame.plan, slot.coded.frame);
    } catch (...) {
      slot.fault = std::current_exception();
    }
    if (!writes_beside_) chain.trace.did("entropy", slot.frame.plan.index);
  }

  /// Marks a frame as finished and wakes collect(). The caller holds the mutex.
  void finish(ScheduledChain& chain, std::int64_t number) {
    chain.slot(number).finished = true;
    finished_.notify_one();
  }

  EncoderSettings settings_;
  ThreadArena& arena_;
  BackendInfo info_;
  std::vector<ScheduledChain> chains_;
  bool writes_beside_;  ///< there are more threads than chains
  std::mutex mutex_;
  std::condition_variable finished_;
  std::condition_variable idle_;
  int tasks_ = 0;         ///< posted and not yet ended
  bool dropped_ = false;  ///< drop() was called: frames that are not started need not be coded
  WorkThreads threads_;   ///< the last member, because its threads use all others
};

}  // namespace

}  // namespace c63::cpu

namespace c63 {

std::unique_ptr<Backend> open_cpu_backend(const ResolvedEncode& encode, int max_chains) {
  return std::make_unique<cpu::CpuBackend>(encode, max_chains);
}

}  // namespace c63
