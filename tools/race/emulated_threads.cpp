#include "race/emulated_threads.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

namespace c63::race {
EmulatedThreads* EmulatedThreads::self = nullptr;

EmulatedThreads::EmulatedThreads(Notes& faults, std::mt19937& random)
    : faults_(faults), random_(random), stacks_(map_memory(kMostThreads * kStackStride)), threads_(kMostThreads) {
  self = this;
}

EmulatedThreads::~EmulatedThreads() { ::munmap(stacks_, kMostThreads * kStackStride); }

// ---- Blocks ----

bool EmulatedThreads::run(const Launch& launch, unsigned order) {
  launch_ = &launch;
  how_ = order;
  block_size_ = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  order_.resize(static_cast<std::size_t>(block_size_));
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  if (how_ % 4 == 1) std::ranges::reverse(order_);
  const uint3 grid = launch.grid;
  std::vector<std::uint32_t> blocks(grid.x * grid.y * grid.z);
  std::iota(blocks.begin(), blocks.end(), 0U);
  if (how_ % 3 == 1) std::ranges::reverse(blocks);
  if (how_ % 3 == 2) std::ranges::shuffle(blocks, random_);
  first_block_ = block_ + 1;
  has_stopped_ = false;
  for (const std::uint32_t number : blocks) {
    block_place_ = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    run_block();
    if (has_stopped_) break;
  }
  current_ = nullptr;
  return !has_stopped_;
}

void EmulatedThreads::run_block() {
  ++block_;
  ++interval_;
  launch_->block_begins();
  const uint3 shape = launch_->block;
  for (int i = 0; i < block_size_; ++i) {
    Thread& thread = threads_[static_cast<std::size_t>(i)];
    const auto number = static_cast<unsigned>(i);
    thread.place = {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
    thread.state = State::ready;
    thread.accesses = 0;
    if (!std::exchange(thread.is_started, true)) thread.fibre.start(stacks_ + static_cast<std::size_t>(i) * kStackStride, kStackBytes, run_thread);
  }
  turn_ = 0;
  became_ready_ = false;
  shuffle();
  current_ = pick();
  Fibre::switch_to(&main_, &current_->fibre);
  if (!has_stopped_) return;
  for (Thread& thread : threads_) thread.is_started = false;  // fibres that have not ended are abandoned
}

// ---- The scheduler ----

void EmulatedThreads::run_thread() {
  for (;;) {
    self->launch_->kernel();
    self->current_->state = State::done;
    self->next();
  }
}

/// Runs another thread of the block. Returns when it is this one's turn again.
void EmulatedThreads::next() {
  Thread* const me = current_;
  Thread* const to = pick();
  if (to == me) return;
  current_ = to != nullptr ? to : me;
  Fibre::switch_to(&me->fibre, to != nullptr ? &to->fibre : &main_);
}

/// Returns the next thread that can run, or null at the end of the block.
EmulatedThreads::Thread* EmulatedThreads::pick() {
  for (;;) {
    while (turn_ < order_.size()) {
      Thread& thread = threads_[order_[turn_++]];
      if (thread.state == State::ready) return &thread;
    }
    turn_ = 0;
    if (std::exchange(became_ready_, false)) continue;
    const std::span<Thread> all(threads_.data(), static_cast<std::size_t>(block_size_));
    const auto count_of = [&](State state) { return std::ranges::count(all, state, &Thread::state); };
    const auto done = count_of(State::done);
    const auto waiting = count_of(State::at_barrier);
    if (count_of(State::in_warp) == 0) launch_->interval_ends();
    if (done == block_size_) return nullptr;
    if (waiting == block_size_) {
      ++interval_;
      barrier_sum_ = 0;
      for (Thread& thread : all) {
        barrier_sum_ += static_cast<unsigned>(thread.value);
        thread.state = State::ready;
        thread.accesses = 0;
      }
      shuffle();
      continue;
    }
    const auto in_warp = std::ranges::find(all, State::in_warp, &Thread::state);
    if (in_warp != all.end()) {
      faults_.add("divergent-warp", in_warp->from, "waits for lanes of its mask that do not come");
    } else {
      faults_.add("divergent-barrier", std::ranges::find(all, State::at_barrier, &Thread::state)->from,
                  fmt::format("a barrier that {} of {} threads do not reach", done, block_size_));
    }
    has_stopped_ = true;
    return nullptr;
  }
}

/// Chooses the order of threads from here to the next barrier: ascending, descending, by warps, or any.
void EmulatedThreads::shuffle() {
  if (how_ % 4 == 2) {
    std::vector<int> warps(static_cast<std::size_t>((block_size_ + kWarp - 1) / kWarp));
    std::iota(warps.begin(), warps.end(), 0);
    std::ranges::shuffle(warps, random_);
    order_.clear();
    for (const int warp : warps) {
      for (int i = warp * kWarp; i < std::min((warp + 1) * kWarp, block_size_); ++i) order_.push_back(static_cast<std::uint16_t>(i));
    }
  } else if (how_ % 4 == 3) {
    std::ranges::shuffle(order_, random_);
  }
}

// ---- What a thread asks for ----

unsigned EmulatedThreads::barrier(unsigned value, std::uint32_t from) {
  current_->state = State::at_barrier;
  current_->value = value;
  current_->from = from;
  next();
  return barrier_sum_;
}

unsigned long long EmulatedThreads::exchange(unsigned what, unsigned mask, unsigned long long value, unsigned source, std::uint32_t from) {
  Thread& me = *current_;
  const int first = index() / kWarp * kWarp;
  if ((mask >> (index() % kWarp) & 1) == 0) stop("divergent-warp", "a lane calls that its mask does not have", from);
  me.state = State::in_warp;
  me.what = what;
  me.mask = mask;
  me.value = value;
  me.source = source;
  me.from = from;
  me.accesses = 0;
  lanes_.clear();
  for (int lane = 0; lane < kWarp && first + lane < block_size_; ++lane) {
    Thread& other = threads_[static_cast<std::size_t>(first + lane)];
    if ((mask >> lane & 1) == 0) continue;
    if (other.state != State::in_warp || other.what != what || other.mask != mask) {
      next();
      return me.result;
    }
    lanes_.push_back(&other);
  }
  const unsigned together = combine(what);
  for (Thread* const t : lanes_) {
    const auto has_source = [&] { return first + static_cast<int>(t->source) < block_size_ && (mask >> t->source & 1) != 0; };
    t->result = what != kC63Shuffle ? together : has_source() ? threads_[static_cast<std::size_t>(first) + t->source].value : random_();
    t->state = State::ready;
  }
  became_ready_ = true;
  if (what == kC63Barrier) ++epochs_[static_cast<std::size_t>(first / kWarp)];
  return me.result;
}

/// Returns the values of the lanes as one.
unsigned EmulatedThreads::combine(unsigned what) const {
  const auto all = [&](auto two, unsigned start) {
    return std::accumulate(lanes_.begin(), lanes_.end(), start, [&](unsigned sum, const Thread* t) { return two(sum, static_cast<unsigned>(t->value)); });
  };
  switch (what) {
    case kC63Ballot: {
      unsigned votes = 0;
      for (const Thread* const t : lanes_) votes |= static_cast<unsigned>(t->value) << ((t - threads_.data()) % kWarp);
      return votes;
    }
    case kC63Add: return all(std::plus<>(), 0);
    case kC63Min: return all([](unsigned a, unsigned b) { return std::min(a, b); }, 0xFFFFFFFF);
    case kC63Max: return all([](unsigned a, unsigned b) { return std::max(a, b); }, 0);
    case kC63And: return all(std::bit_and<>(), 0xFFFFFFFF);
    case kC63Or: return all(std::bit_or<>(), 0);
    case kC63Xor: return all(std::bit_xor<>(), 0);
    default: return 0;
  }
}

void EmulatedThreads::stop(const char* id, const std::string& text, std::uint32_t from) {
  faults_.add(id, from, text);
  has_stopped_ = true;
  Fibre::switch_to(&current_->fibre, &main_);
  std::abort();  // an abandoned fibre is not continued
}

}  // namespace c63::race
