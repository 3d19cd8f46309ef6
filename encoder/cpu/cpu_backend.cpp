#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "c63/thread_pool.h"
#include "c63/trace.h"
#include "cpu/gop_chain.h"

namespace c63::cpu {
namespace {

/// The number of frames that a chain works on at the same time: one is searched, one is entropy coded, and one is read
/// from the source.
constexpr int kDepth = 3;

class CpuBackend;
struct ScheduledChain;

/// A task of the backend: to run a chain, or to write one of its frames.
struct ChainTask : ThreadPool::Task {
  CpuBackend* backend = nullptr;
  ScheduledChain* chain = nullptr;
  std::int64_t number = 0;  ///< of the frame to write
};

/// Memory for one frame of a chain: its samples, and from submit() until collect() also its plan and its result.
struct Slot {
  PaddedPicture picture;  ///< the input
  ChainFrame frame;
  CodedFrame coded;
  ChainTask writing;
  bool finished = false;
  std::exception_ptr fault;
};

/// A chain and its frames. The memory for their samples, levels and vectors is allocated when the backend is opened.
struct ScheduledChain {
  std::optional<GopChain> chain;
  std::array<Slot, kDepth> slots;
  ChainTask running_task;
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
        pool_(*settings_.execution.pool),
        chains_(static_cast<std::size_t>(chain_count(encode, max_chains))),
        writes_beside_(static_cast<int>(chains_.size()) < pool_.concurrency()) {
    const Kernels& kernels = cpu::kernels(settings_.execution.simd);
    // The chains are made in parallel, because their memory takes long to fill: 0.4 s for all chains at 1920x1080.
    pool_.execute([&] {
      parallel_for(chains_.size(), [&](std::size_t i) {
        ScheduledChain& chain = chains_[i];
        chain.chain.emplace(encode, kernels);
        for (Slot& slot : chain.slots) slot.picture = PaddedPicture(encode.geometry);
        chain.trace = TraceRow(settings_.measurement.trace, TraceTrack::chain, index_of(chain));
      });
    });
    const int concurrency = pool_.concurrency();
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
    const int threads = execution.pool->concurrency();
    const int wanted = execution.lanes > 0 ? execution.lanes : threads == 1 ? 1 : threads + 1;
    std::uint64_t most = static_cast<std::uint64_t>(max_chains);
    // The memory limit also covers the frames of the look-ahead, so there are fewer chains if a look-ahead is used.
    if (encode.lookahead.any()) most = std::min(most, encode.chains_in_half(encode.chain_bytes() + encode.lookahead_bytes()));
    return std::clamp(wanted, 1, std::max(1, static_cast<int>(most)));
  }
  [[nodiscard]] int index_of(const ScheduledChain& chain) const { return static_cast<int>(&chain - chains_.data()); }

  /// Posts a task that calls the member function kFunction. The function must call end_task() when it is done. The
  /// caller holds the mutex.
  template <auto kFunction>
  void post(ChainTask& task, ScheduledChain& chain, std::int64_t number) {
    ++tasks_;
    task.backend = this;
    task.chain = &chain;
    task.number = number;
    task.run = [](ThreadPool::Task& posted) noexcept {
      const auto& self = static_cast<const ChainTask&>(posted);
      (self.backend->*kFunction)(*self.chain, self.number);
    };
    pool_.post(task);
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
    post<&CpuBackend::run>(chain.running_task, chain, chain.started);
  }
  [[nodiscard]] bool may_start(ScheduledChain& chain) const {
    if (chain.started == chain.submitted || dropped_) return false;
    const std::int64_t before = chain.started - GopChain::kUnwritten;
    return before < chain.collected || chain.slot(before).finished;
  }

  /// Codes the frames of a chain one after another, while may_start() is true.
  void run(ScheduledChain& chain, std::int64_t /*first*/) noexcept {
    std::unique_lock lock(mutex_);
    while (may_start(chain)) {
      const std::int64_t number = chain.started++;
      lock.unlock();
      code(chain, number);
      if (!writes_beside_) write(chain, number);
      lock.lock();
      if (writes_beside_) {
        post<&CpuBackend::write_beside>(chain.slot(number).writing, chain, number);
      } else {
        finish(chain, number);
      }
    }
    chain.running = false;
    end_task();
  }

  /// Writes the bytes of a coded frame, while another thread may code the chain's next frame.
  void write_beside(ScheduledChain& chain, std::int64_t number) noexcept {
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
      chain.chain->code(number, slot.picture, original, slot.frame.plan, slot.coded.frame, chain.trace);
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
  ThreadPool& pool_;
  BackendInfo info_;
  std::vector<ScheduledChain> chains_;
  bool writes_beside_;  ///< there are more threads than chains
  std::mutex mutex_;
  std::condition_variable finished_;
  std::condition_variable idle_;
  int tasks_ = 0;         ///< posted and not yet ended
  bool dropped_ = false;  ///< drop() was called: frames that are not started need not be coded
};

}  // namespace

}  // namespace c63::cpu

namespace c63 {

std::unique_ptr<Backend> open_cpu_backend(const ResolvedEncode& encode, int max_chains) {
  return std::make_unique<cpu::CpuBackend>(encode, max_chains);
}

}  // namespace c63
