#include "race/emulated_gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "c63/error.h"
#include "race/access_counts.h"
#include "race/fibre.h"
#include "race/shadow_memory.h"
#define C63_EMULATOR
#include "race/emulated_cuda.h"
#undef C63_EMULATOR

namespace c63::race {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostShared = kC63SharedBytes - 1024;  // bytes; CUDA itself takes 1 KiB of a thread block
constexpr std::size_t kStackBytes = 256 << 10;
constexpr std::size_t kStackStride = kStackBytes + 4096 + 192;  // so that stacks do not share the lines of a cache
constexpr std::uintptr_t kMostParameters = 1 << 16;  // bytes of the host's stack that may hold parameters
constexpr std::int64_t kMostAccesses = 20'000'000;  // of a thread from barrier to barrier; more means a loop without an end

/// A copy that goes on.
struct Copy {
  std::uint8_t* to;
  const std::uint8_t* from_memory;
  unsigned bytes;
  unsigned group;
  std::uint32_t from;
};

enum class ThreadState : std::uint8_t { ready, at_barrier, in_warp, done };

struct Thread {
  Fibre fibre;
  ThreadState state = ThreadState::done;
  bool is_started = false;
  uint3 place{};
  std::uint32_t from = 0;  ///< where it waits
  unsigned what = 0;
  unsigned mask = 0;
  unsigned source = 0;
  unsigned long long value = 0;
  unsigned long long result = 0;
  std::int64_t accesses = 0;  ///< since it last waited
  unsigned groups = 0;        ///< of copies that it has ended
  std::vector<Copy> copies = {};
  std::vector<AccessCounts::Access> trace = {};
};

}  // namespace

class EmulatedGpu::Device {
 public:
  Device(const std::string& path, const std::string& library, const std::string& host_part, std::uint32_t seed)
      : path_(path), library_(library), random_(seed), threads_(kMostThreads) {
    self = this;
    kernels_ = open(library);
    if (!host_part.empty()) host_ = open(host_part);
    if (host_ != nullptr) {
      launch_ = reinterpret_cast<decltype(launch_)>(::dlsym(host_, "c63_motion_launch"));
      if (launch_ == nullptr) refuse("has no function c63_motion_launch() (c63/motion_kernel.h)");
    } else {
      static_cast<void>(kernel_named("c63_motion"));
    }
    set_up_memory();
    gpu_.launch = [](const c63_motion_gpu*, const char* kernel, const int* grid, const int* block, int shared, void** arguments) {
      return self->launch(kernel, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, arguments);
    };
    gpu_.scratch = [](const c63_motion_gpu*, unsigned long long bytes) {
      return static_cast<void*>(self->allocate(bytes, "the scratch memory"));
    };
  }

  ~Device() {
    for (void* const library : {kernels_, host_}) {
      if (library != nullptr) ::dlclose(library);
    }
    ::munmap(stacks_, kMostThreads * kStackStride);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::vector<SearchedCase> search(std::span<const RaceCase> cases, const CaseLayout& layout) {
    ++searches_;
    memory_.free_all();
    c63_motion_batch batch{};
    int columns = 0;
    int rows = 0;
    int range = 0;
    for (const RaceCase& c : cases) {
      const auto place = [&](const std::vector<std::uint8_t>& bytes, const char* name, bool is_plane) {
        std::uint8_t* const at = memory_.allocate(bytes.size(), name, is_plane);
        if (at == nullptr) throw Error(ErrorKind::memory, "C63-MEMORY", "no memory left on the emulated GPU");
        std::ranges::copy(bytes, at);
        return at;
      };
      const std::vector<std::uint8_t> poison(2 * c.blocks(), layout.poison);
      batch.jobs[batch.count++] = {.current = place(c.current, "the current plane", true),
                                     .reference = place(c.reference, "the reference plane", true),
                                     .current_pitch = c.current_pitch,
                                     .reference_pitch = c.reference_pitch,
                                     .width = c.width,
                                     .height = c.height,
                                     .range = c.range,
                                     .vectors = reinterpret_cast<c63_motion_vector*>(place(poison, "the vectors", false)),
                                     .sads = reinterpret_cast<unsigned short*>(place(poison, "the SADs", false))};
      columns = std::max(columns, c.width / 8);
      rows = std::max(rows, c.height / 8);
      range = std::max(range, c.range);
    }
    int status = 0;
    if (launch_ != nullptr) {
      status = launch_(&batch, &gpu_);
    } else {
      const auto* const given = static_cast<const c63_motion_shape*>(::dlsym(kernels_, "c63_motion_launch_shape"));
      const int most = *static_cast<const int*>(::dlsym(kernels_, "c63_threads_c63_motion"));
      const c63_motion_shape shape = given != nullptr ? *given : c63_motion_shape{{most, 1}, {1, 1}, {0, 0, 0}};
      if (shape.blocks[0] < 1 || shape.blocks[1] < 1) refuse("C63_MOTION_SHAPE needs at least one thread and one block");
      void* arguments[] = {&batch};
      status = launch("c63_motion",
                      {(columns + shape.blocks[0] - 1) / shape.blocks[0], (rows + shape.blocks[1] - 1) / shape.blocks[1], batch.count},
                      {shape.threads[0], shape.threads[1], 1},
                      shape.shared_bytes[0] + shape.shared_bytes[1] * range + shape.shared_bytes[2] * range * range, arguments);
    }
    if (status != 0 && faults_.all().empty()) {
      faults_.add("launch-failed", 0, fmt::format("the launch fails with CUDA's error {}: its shape, or its memory", status));
    }
    std::vector<SearchedCase> found;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::size_t blocks = cases[i].blocks();
      SearchResults& results = found.emplace_back().results;
      const auto* const vectors = reinterpret_cast<const MotionVector*>(batch.jobs[i].vectors);
      results.vectors.assign(vectors, vectors + blocks);
      results.sads.assign(batch.jobs[i].sads, batch.jobs[i].sads + blocks);
    }
    return found;
  }

  /// Returns what was noted, with the lines of the file.
  [[nodiscard]] std::vector<MotionSuspicion> told(bool is_fault) const {
    const Notes& notes = is_fault ? faults_ : doubts_;
    std::vector<std::uint32_t> places;
    for (const auto& [key, note] : notes.all()) places.insert(places.end(), {key.second, note.other});
    const std::map<std::uint32_t, int> lines = lines_of(places, library_, path_);
    std::map<std::pair<int, std::string>, MotionSuspicion> by_line;
    for (const auto& [key, note] : notes.all()) {
      const int line = lines.at(key.second);
      std::string text = note.text;
      if (line > 0) text = fmt::format("{}:{}: {}", std::filesystem::path(path_).filename().string(), line, text);
      if (note.other != 0 && lines.at(note.other) > 0) text += fmt::format(" (line {})", lines.at(note.other));
      by_line.try_emplace({line, std::string(key.first)}, MotionSuspicion{std::string(key.first), text, 1});
    }
    std::vector<MotionSuspicion> all;
    for (auto& [line, suspicion] : by_line) all.push_back(std::move(suspicion));
    return all;
  }

  void start_counting() { counts_ = std::make_unique<AccessCounts>(image_bytes_); }

  [[nodiscard]] std::vector<LineCounts> counts() const {
    const auto by_place = counts_->by_place();
    std::vector<std::uint32_t> places;
    for (const auto& [from, counts] : by_place) places.push_back(from);
    const std::map<std::uint32_t, int> lines = lines_of(places, library_, path_);
    std::map<std::pair<int, bool>, LineCounts> by_line;
    for (const auto& [from, counts] : by_place) {
      const int line = lines.at(from);
      by_line.try_emplace({line, counts.is_shared}, LineCounts{.line = line, .is_shared = counts.is_shared}).first->second.add(counts);
    }
    std::vector<LineCounts> all;
    for (const auto& [key, counts] : by_line) all.push_back(counts);
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw Error(ErrorKind::usage, "C63-KERNEL-FORM", why, {.file = path_}); }

  [[nodiscard]] void* open(const std::string& library) const {
    void* const opened = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) throw Error(ErrorKind::input, "C63-SEARCH-LOAD", std::string("cannot be loaded: ") + ::dlerror(), {.file = path_});
    return opened;
  }

  [[nodiscard]] void (*kernel_named(const std::string& name) const)(void**) {
    const auto kernel = reinterpret_cast<void (*)(void**)>(::dlsym(kernels_, ("c63_emulated_" + name).c_str()));
    if (kernel == nullptr) refuse("has no kernel " + name + ": write C63_MOTION_KERNEL void " + name + "(...) (c63/motion_kernel.h)");
    return kernel;
  }

  void set_up_memory() {
    static constexpr C63EmulatedGpu kFunctions = {
        .place = [](int what) { return self->place(what); },
        .access = [](const void* at, unsigned long bytes, unsigned kind, void* from) { self->access(at, bytes, kind, self->offset_of(from)); },
        .out_of_array = [](void* from) { self->stop("outside-array", "an array's index is too large or negative", self->offset_of(from)); },
        .barrier = [](unsigned value, void* from) { return self->barrier(value, self->offset_of(from)); },
        .exchange = [](unsigned what, unsigned mask, unsigned long long value, unsigned source, void* from) {
          return self->exchange(what, mask, value, source, self->offset_of(from));
        },
        .copy = [](void* to, const void* from_memory, unsigned bytes, void* from) { self->copy(to, from_memory, bytes, self->offset_of(from)); },
        .end_copies = [] { ++self->current_->groups; },
        .wait_copies = [](unsigned left) { self->wait_copies(left); }};
    const auto symbol = [&](const char* name) { return ::dlsym(kernels_, name); };
    *static_cast<const C63EmulatedGpu**>(symbol("c63_emulated_gpu")) = &kFunctions;
    dynamic_ = reinterpret_cast<std::uintptr_t>(symbol("c63_emulated_shared"));
    const auto address_in = [&](const char* name) { return *static_cast<const std::uintptr_t*>(symbol(name)); };
    shared_begin_ = address_in("c63_emulated_shared_begin");
    shared_end_ = address_in("c63_emulated_shared_end");
    Dl_info info{};
    ::dladdr(symbol("c63_emulated_gpu"), &info);
    image_ = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    ::dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t, void* data) {
          auto& device = *static_cast<Device*>(data);
          if (library->dlpi_addr != device.image_) return 0;
          for (int i = 0; i < library->dlpi_phnum; ++i) {
            const auto& part = library->dlpi_phdr[i];
            if (part.p_type == PT_LOAD) device.image_bytes_ = std::max<std::size_t>(device.image_bytes_, part.p_vaddr + part.p_memsz);
          }
          return 1;
        },
        this);
    image_shadow_ = std::make_unique<ShadowMemory>(image_bytes_);
    stacks_ = map_memory(kMostThreads * kStackStride);
  }

  // ---- Memory ----

  [[nodiscard]] std::uint32_t offset_of(const void* from) const { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) - image_ - 1); }

  /// Returns device memory for results or scratch, or null if there is none left.
  std::uint8_t* allocate(std::size_t bytes, const char* name) {
    std::uint8_t* const place = memory_.allocate(bytes, name, false);
    if (place != nullptr) fill(place, bytes);
    return place;
  }

  /// Fills memory with what it may hold before anybody has written: other bytes in each launch.
  void fill(std::uint8_t* at, std::size_t bytes) {
    const unsigned how = searches_ % 3;
    std::generate_n(at, bytes, [&] { return static_cast<std::uint8_t>(how == 0 ? 0xFF : how == 1 ? 0 : random_()); });
  }

  void access(const void* at, std::size_t bytes, unsigned kind, std::uint32_t from) {
    const auto place = reinterpret_cast<std::uintptr_t>(at);
    if (place - reinterpret_cast<std::uintptr_t>(stacks_) < kMostThreads * kStackStride) return;
    const bool is_write = (kind & kC63Write) != 0;
    Thread& thread = *current_;
    if (++thread.accesses > kMostAccesses) stop("hangs", "a loop that does not end", from);
    if ((bytes & (bytes - 1)) == 0 && bytes <= 16 && place % bytes != 0 && bytes > 2) {
      stop("misaligned", fmt::format("an access of {} bytes to an address that is no multiple of {}", bytes, bytes), from);
    }
    if (place - image_ < image_bytes_) {
      const bool is_shared = place >= shared_begin_ && place < shared_end_;
      if (place - dynamic_ < kC63SharedBytes && place - dynamic_ + bytes > dynamic_bytes_) {
        stop(is_write ? "writes-outside" : "reads-outside",
             fmt::format("{} shared memory {} bytes past its {} bytes", is_write ? "writes" : "reads", place - dynamic_ + bytes - dynamic_bytes_,
                         dynamic_bytes_),
             from);
      }
      check(*image_shadow_, place - image_, bytes, is_shared, kind, from);
      if (counts_ && is_shared) thread.trace.push_back(counts_->access(place, bytes, true, from));
    } else if (memory_.contains(place)) {
      const DeviceMemory::Allocation* const at_place = memory_.find(place);
      if (at_place == nullptr || place + bytes > at_place->end) {
        stop(is_write ? "writes-outside" : "reads-outside", (is_write ? "writes " : "reads ") + memory_.distance(place, bytes), from);
      }
      if (at_place->shadow) {
        check(*at_place->shadow, place - at_place->begin, bytes, false, kind, from);
      } else if (is_write) {
        stop("writes-planes", std::string("writes into ") + at_place->name, from);
      }
      if (counts_) thread.trace.push_back(counts_->access(place, bytes, false, from));
    } else if (is_write || place - host_stack_ >= kMostParameters) {
      stop("illegal-access", std::string(is_write ? "writes to " : "reads ") + (place < 65536 ? "a null pointer" : "an address far from all memory"), from);
    }
    constexpr std::int64_t kSpins = 64;  // a thread that waits for another lets it run
    if ((kind & kC63Together) != 0 && !is_write && thread.accesses % kSpins == 0) {
      became_ready_ = true;
      next();
    }
  }

  void check(ShadowMemory& shadow, std::size_t at, std::size_t bytes, bool is_shared, unsigned kind, std::uint32_t from) {
    const auto thread = static_cast<std::uint16_t>(current_ - threads_.data());
    shadow.check(at, bytes,
                 {.is_read = (kind & kC63Read) != 0,
                  .is_write = (kind & kC63Write) != 0,
                  .is_shared = is_shared,
                  .has_value = &shadow == image_shadow_.get(),
                  .first_block = first_block_},
                 {.block = block_, .interval = interval_, .from = from, .thread = thread, .epoch = epochs_[thread / kWarp], .is_together = (kind & kC63Together) != 0},
                 faults_, doubts_);
  }

  void copy(void* to, const void* from_memory, unsigned bytes, std::uint32_t from) {
    if (bytes != 4 && bytes != 8 && bytes != 16) stop("misaligned", "an asynchronous copy has 4, 8 or 16 bytes", from);
    access(from_memory, bytes, kC63Read, from);
    access(to, bytes, kC63Write, from);
    image_shadow_->set_pending(reinterpret_cast<std::uintptr_t>(to) - image_, bytes);
    current_->copies.push_back({static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from_memory), bytes, current_->groups, from});
  }

  void wait_copies(unsigned left) {
    Thread& thread = *current_;
    std::erase_if(thread.copies, [&](const Copy& c) {
      if (c.group + left >= thread.groups) return false;
      std::copy_n(c.from_memory, c.bytes, c.to);
      check(*image_shadow_, reinterpret_cast<std::uintptr_t>(c.to) - image_, c.bytes, true, kC63Write, c.from);
      return true;
    });
  }

  // ---- Notes ----

  /// Notes a fault after which the kernel cannot go on. Ends the launch.
  [[noreturn]] void stop(const char* id, const std::string& text, std::uint32_t from) {
    faults_.add(id, from, text);
    has_stopped_ = true;
    Fibre::switch_to(&current_->fibre, &main_);
    std::abort();  // an abandoned fibre is not continued
  }

  /// Counts what the warps have accessed since the last barrier.
  void count_warps() {
    for (int warp = 0; warp < block_size_; warp += kWarp) {
      std::vector<const std::vector<AccessCounts::Access>*> lanes;
      for (int i = warp; i < std::min(warp + kWarp, block_size_); ++i) lanes.push_back(&threads_[static_cast<std::size_t>(i)].trace);
      counts_->add_warp(lanes);
    }
    for (Thread& thread : threads_) thread.trace.clear();
  }

  // ---- Threads ----

  [[nodiscard]] uint3 place(int what) const { return what == 0 ? current_->place : what == 1 ? block_place_ : what == 2 ? block_shape_ : grid_; }

  static void run_threads() {
    for (;;) {
      self->kernel_(self->arguments_);
      self->current_->state = ThreadState::done;
      self->current_->copies.clear();
      self->next();
    }
  }

  /// Runs another thread of the block. Returns when it is this one's turn again.
  void next() {
    Thread* const me = current_;
    Thread* const to = pick();
    if (to == me) return;
    current_ = to != nullptr ? to : me;
    Fibre::switch_to(&me->fibre, to != nullptr ? &to->fibre : &main_);
  }

  /// Returns the next thread that can run, or null at the end of the block.
  Thread* pick() {
    for (;;) {
      while (turn_ < order_.size()) {
        Thread& thread = threads_[order_[turn_++]];
        if (thread.state == ThreadState::ready) return &thread;
      }
      turn_ = 0;
      if (std::exchange(became_ready_, false)) continue;
      const std::span<Thread> all(threads_.data(), static_cast<std::size_t>(block_size_));
      const auto count_of = [&](ThreadState state) { return std::ranges::count(all, state, &Thread::state); };
      const auto done = count_of(ThreadState::done);
      const auto waiting = count_of(ThreadState::at_barrier);
      if (counts_ && count_of(ThreadState::in_warp) == 0) count_warps();
      if (done == block_size_) return nullptr;
      if (waiting == block_size_) {
        ++interval_;
        barrier_sum_ = 0;
        for (Thread& thread : all) {
          barrier_sum_ += static_cast<unsigned>(thread.value);
          thread.state = ThreadState::ready;
          thread.accesses = 0;
        }
        shuffle();
        continue;
      }
      const auto in_warp = std::ranges::find(all, ThreadState::in_warp, &Thread::state);
      if (in_warp != all.end()) {
        faults_.add("divergent-warp", in_warp->from, "waits for lanes of its mask that do not come");
      } else {
        faults_.add("divergent-barrier", std::ranges::find(all, ThreadState::at_barrier, &Thread::state)->from,
             fmt::format("a barrier that {} of {} threads do not reach", done, block_size_));
      }
      has_stopped_ = true;
      return nullptr;
    }
  }

  /// Chooses the order of threads from here to the next barrier: ascending, descending, by warps, or any.
  void shuffle() {
    const unsigned how = searches_ % 4;
    if (how == 2) {
      std::vector<int> warps(static_cast<std::size_t>((block_size_ + kWarp - 1) / kWarp));
      std::iota(warps.begin(), warps.end(), 0);
      std::ranges::shuffle(warps, random_);
      order_.clear();
      for (const int warp : warps) {
        for (int i = warp * kWarp; i < std::min((warp + 1) * kWarp, block_size_); ++i) order_.push_back(static_cast<std::uint16_t>(i));
      }
    } else if (how == 3) {
      std::ranges::shuffle(order_, random_);
    }
  }

  unsigned barrier(unsigned value, std::uint32_t from) {
    current_->state = ThreadState::at_barrier;
    current_->value = value;
    current_->from = from;
    next();
    return barrier_sum_;
  }

  unsigned long long exchange(unsigned what, unsigned mask, unsigned long long value, unsigned source, std::uint32_t from) {
    Thread& me = *current_;
    const auto index = static_cast<int>(current_ - threads_.data());
    const int first = index / kWarp * kWarp;
    if ((mask >> (index % kWarp) & 1) == 0) stop("divergent-warp", "a lane calls that its mask does not have", from);
    me.state = ThreadState::in_warp;
    me.what = what;
    me.mask = mask;
    me.value = value;
    me.source = source;
    me.from = from;
    me.accesses = 0;
    std::vector<Thread*>& lanes = lanes_;
    lanes.clear();
    for (int lane = 0; lane < kWarp && first + lane < block_size_; ++lane) {
      Thread& other = threads_[static_cast<std::size_t>(first + lane)];
      if ((mask >> lane & 1) == 0) continue;
      if (other.state != ThreadState::in_warp || other.what != what || other.mask != mask) {
        next();
        return me.result;
      }
      lanes.push_back(&other);
    }
    const auto all = [&](auto combine, unsigned start) {
      return std::accumulate(lanes.begin(), lanes.end(), start, [&](unsigned sum, const Thread* t) { return combine(sum, static_cast<unsigned>(t->value)); });
    };
    unsigned together = 0;
    switch (what) {
      case kC63Ballot:
        for (const Thread* const t : lanes) together |= static_cast<unsigned>(t->value) << ((t - threads_.data()) % kWarp);
        break;
      case kC63Add: together = all(std::plus<>(), 0); break;
      case kC63Min: together = all([](unsigned a, unsigned b) { return std::min(a, b); }, 0xFFFFFFFF); break;
      case kC63Max: together = all([](unsigned a, unsigned b) { return std::max(a, b); }, 0); break;
      case kC63And: together = all(std::bit_and<>(), 0xFFFFFFFF); break;
      case kC63Or: together = all(std::bit_or<>(), 0); break;
      case kC63Xor: together = all(std::bit_xor<>(), 0); break;
      default: break;
    }
    for (Thread* const t : lanes) {
      const auto has_source = [&] { return first + static_cast<int>(t->source) < block_size_ && (mask >> t->source & 1) != 0; };
      t->result = what != kC63Shuffle ? together : has_source() ? threads_[static_cast<std::size_t>(first) + t->source].value : random_();
    }
    for (Thread* const t : lanes) t->state = ThreadState::ready;
    became_ready_ = true;
    if (what == kC63Barrier) ++epochs_[static_cast<std::size_t>(first / kWarp)];
    return me.result;
  }

  int launch(const std::string& name, const std::array<int, 3>& grid, const std::array<int, 3>& block, int shared, void** arguments) {
    kernel_ = kernel_named(name);
    arguments_ = arguments;
    host_stack_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::int64_t threads = std::int64_t{block[0]} * block[1] * block[2];
    constexpr int kInvalidConfiguration = 9;
    if (std::min({grid[0], grid[1], grid[2], block[0], block[1], block[2]}) < 1 || threads > kMostThreads) return kInvalidConfiguration;
    if (shared < 0 || shared > kMostShared) return 1;
    const auto three = [](const std::array<int, 3>& v) { return uint3{static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]), static_cast<unsigned>(v[2])}; };
    grid_ = three(grid);
    block_shape_ = three(block);
    block_size_ = static_cast<int>(threads);
    dynamic_bytes_ = static_cast<std::size_t>(shared);
    order_.resize(static_cast<std::size_t>(threads));
    std::iota(order_.begin(), order_.end(), std::uint16_t{0});
    if (searches_ % 4 == 1) std::ranges::reverse(order_);
    std::vector<std::uint32_t> blocks(grid_.x * grid_.y * grid_.z);
    std::iota(blocks.begin(), blocks.end(), 0U);
    if (searches_ % 3 == 1) std::ranges::reverse(blocks);
    if (searches_ % 3 == 2) std::ranges::shuffle(blocks, random_);
    first_block_ = block_ + 1;
    has_stopped_ = false;
    for (const std::uint32_t number : blocks) {
      block_place_ = {number % grid_.x, number / grid_.x % grid_.y, number / grid_.x / grid_.y};
      run_block();
      if (has_stopped_) break;
    }
    constexpr int kLaunchFailure = 719;
    return has_stopped_ ? kLaunchFailure : 0;
  }

  void run_block() {
    ++block_;
    ++interval_;
    fill(reinterpret_cast<std::uint8_t*>(dynamic_), dynamic_bytes_);
    const std::uintptr_t after_dynamic = dynamic_ + kC63SharedBytes;
    fill(reinterpret_cast<std::uint8_t*>(after_dynamic), shared_end_ - after_dynamic);
    for (int i = 0; i < block_size_; ++i) {
      Thread& thread = threads_[static_cast<std::size_t>(i)];
      const auto number = static_cast<unsigned>(i);
      thread.place = {number % block_shape_.x, number / block_shape_.x % block_shape_.y, number / block_shape_.x / block_shape_.y};
      thread.state = ThreadState::ready;
      thread.accesses = 0;
      thread.groups = 0;
      if (!std::exchange(thread.is_started, true)) thread.fibre.start(stacks_ + static_cast<std::size_t>(i) * kStackStride, kStackBytes, run_threads);
    }
    turn_ = 0;
    became_ready_ = false;
    shuffle();
    current_ = pick();
    Fibre::switch_to(&main_, &current_->fibre);
    if (!has_stopped_) return;
    for (Thread& thread : threads_) {  // fibres that have not ended are abandoned
      thread.is_started = false;
      thread.copies.clear();
      thread.trace.clear();
    }
  }

  static Device* self;  ///< for the functions that the file calls

  std::string path_;
  std::string library_;
  std::mt19937 random_;
  void* kernels_ = nullptr;
  void* host_ = nullptr;
  int (*launch_)(const c63_motion_batch*, const c63_motion_gpu*) = nullptr;
  c63_motion_gpu gpu_{};
  Notes faults_;
  Notes doubts_;

  // Memory
  std::uintptr_t image_ = 0;  ///< the library in memory
  std::size_t image_bytes_ = 0;
  std::uintptr_t shared_begin_ = 0;
  std::uintptr_t shared_end_ = 0;
  std::uintptr_t dynamic_ = 0;  ///< dynamic shared memory
  std::size_t dynamic_bytes_ = 0;
  std::unique_ptr<ShadowMemory> image_shadow_;
  std::uint8_t* stacks_ = nullptr;
  DeviceMemory memory_;

  // The launch, and its current block
  unsigned searches_ = 0;
  void (*kernel_)(void**) = nullptr;
  void** arguments_ = nullptr;
  std::uintptr_t host_stack_ = 0;  ///< the parameters are on it
  uint3 grid_{};
  uint3 block_shape_{};
  uint3 block_place_{};
  int block_size_ = 0;
  std::uint32_t block_ = 0;
  std::uint32_t first_block_ = 1;  ///< of the launch
  std::uint32_t interval_ = 0;
  std::array<std::uint16_t, kMostThreads / kWarp> epochs_{};
  unsigned barrier_sum_ = 0;
  bool has_stopped_ = false;

  // Threads
  Fibre main_;
  std::vector<Thread> threads_;
  Thread* current_ = nullptr;
  std::vector<std::uint16_t> order_;
  std::size_t turn_ = 0;
  bool became_ready_ = false;  ///< a thread may run that was passed over in this round
  std::vector<Thread*> lanes_;

  std::unique_ptr<AccessCounts> counts_;  ///< null: nothing is counted
};

EmulatedGpu::Device* EmulatedGpu::Device::self = nullptr;

EmulatedGpu::EmulatedGpu(const std::string& path, const std::string& library, const std::string& host_part, std::uint32_t seed)
    : device_(std::make_unique<Device>(path, library, host_part, seed)) {}
EmulatedGpu::~EmulatedGpu() = default;
std::vector<SearchedCase> EmulatedGpu::search(std::span<const RaceCase> cases, const CaseLayout& layout) { return device_->search(cases, layout); }
std::vector<MotionSuspicion> EmulatedGpu::faults() const { return device_->told(true); }
std::vector<MotionSuspicion> EmulatedGpu::doubts() const { return device_->told(false); }
void EmulatedGpu::start_counting() { device_->start_counting(); }
std::vector<LineCounts> EmulatedGpu::counts() const { return device_->counts(); }

}  // namespace c63::race
