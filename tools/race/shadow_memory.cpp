#include "race/shadow_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "c63/error.h"

namespace c63::race {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kArenaBytes = 256 << 20;

/// Returns true if the threads of the two stamps do not wait for each other between the two accesses.
bool is_concurrent(const Stamp& s, const Stamp& now, const ShadowMemory::Access& access) {
  if (s.block < access.first_block) return false;
  if (s.block != now.block) return !access.is_shared;
  if (s.interval != now.interval) return false;
  if (s.thread == now.thread) return s.is_many;
  return s.thread / 32 != now.thread / 32 || s.epoch == now.epoch;
}

}  // namespace

ShadowMemory::ShadowMemory(std::size_t bytes)
    : size_(std::max(bytes, std::size_t{1}) * sizeof(Byte)),
      bytes_(reinterpret_cast<Byte*>(map_memory(size_))) {}

ShadowMemory::~ShadowMemory() { ::munmap(bytes_, size_); }

void ShadowMemory::check(std::size_t at, std::size_t count, const Access& access, Stamp now, Notes& faults, Notes& doubts) {
  const auto compare = [&](const Stamp& other, bool is_write, bool other_is_write) {
    if (!is_concurrent(other, now, access) || (now.is_together && other.is_together)) return;
    const bool is_read_of_atomic = (now.is_together || other.is_together) && !(is_write && other_is_write);
    (is_read_of_atomic ? doubts : faults)
        .add(access.is_shared ? "shared-race" : "global-race", now.from,
             [&] {
               return fmt::format("{} {} memory that another thread {} {}", is_write ? "writes" : "reads", access.is_shared ? "shared" : "global",
                                  other_is_write ? "writes" : "reads", other.block == now.block ? "without a barrier between" : "in another block");
             },
             other.from);
  };
  for (Byte* byte = bytes_ + at; byte != bytes_ + at + count; ++byte) {
    if (access.is_read) {
      if (byte->write.is_pending && byte->write.block == now.block) {
        doubts.add("reads-unwritten", now.from, "reads memory before the copy to it is waited for", byte->write.from);
      } else if (access.is_shared ? byte->write.block != now.block : byte->write.block == 0 && !access.has_value) {
        doubts.add("reads-unwritten", now.from,
                   access.is_shared ? "reads shared memory that no thread of the block has written" : "reads memory that nobody has written");
      }
      compare(byte->write, false, true);
      const bool is_many = is_concurrent(byte->read, now, access);
      byte->read = now;
      byte->read.is_many = is_many;
    }
    if (access.is_write) {
      compare(byte->write, true, true);
      compare(byte->read, true, false);
      byte->write = now;
    }
  }
}

void ShadowMemory::set_pending(std::size_t at, std::size_t count) {
  for (std::size_t i = at; i < at + count; ++i) bytes_[i].write.is_pending = true;
}

void ShadowMemory::set_written(std::size_t at, std::size_t count, Stamp now) {
  for (std::size_t i = at; i < at + count; ++i) bytes_[i].write = now;
}

DeviceMemory::DeviceMemory() : arena_(map_memory(kArenaBytes)), owners_(kArenaBytes / kPage) {}

DeviceMemory::~DeviceMemory() { ::munmap(arena_, kArenaBytes); }

void DeviceMemory::free_all() {
  std::fill_n(owners_.begin(), used_ / kPage, std::uint16_t{0});
  allocations_.clear();
  used_ = kPage;
}

bool DeviceMemory::free(std::uintptr_t place) {
  const Allocation* const found = contains(place) ? find(place) : nullptr;
  if (found == nullptr || found->begin != place) return false;
  Allocation& gone = allocations_[static_cast<std::size_t>(found - allocations_.data())];
  std::ranges::replace(owners_, static_cast<std::uint16_t>(found - allocations_.data() + 1), std::uint16_t{0});
  gone.shadow.reset();
  if (std::ranges::all_of(owners_, [](std::uint16_t owner) { return owner == 0; })) free_all();
  return true;
}

void DeviceMemory::hide(bool hides) const {
  if (!is_hidden_) return;
  ::mprotect(arena_, kArenaBytes, hides ? PROT_NONE : PROT_READ | PROT_WRITE);
  for (const Allocation& a : allocations_) {
    if (hides && a.is_managed) ::mprotect(reinterpret_cast<void*>(a.begin), a.end - a.begin, PROT_READ | PROT_WRITE);
  }
}

std::uint8_t* DeviceMemory::allocate(std::size_t bytes, const char* name, bool is_read_only, bool is_managed) {
  const std::size_t pages = (bytes + kPage - 1) / kPage;
  if (pages + 1 > (kArenaBytes - used_) / kPage) return nullptr;
  std::uint8_t* const place = arena_ + used_;
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  allocations_.push_back({begin, begin + bytes, name, is_read_only ? nullptr : std::make_unique<ShadowMemory>(bytes), is_managed});
  std::fill_n(owners_.begin() + static_cast<std::ptrdiff_t>(used_ / kPage), pages, static_cast<std::uint16_t>(allocations_.size()));
  used_ += (pages + 1) * kPage;
  return place;
}

bool DeviceMemory::contains(std::uintptr_t place) const { return place - reinterpret_cast<std::uintptr_t>(arena_) < kArenaBytes; }

const DeviceMemory::Allocation* DeviceMemory::find(std::uintptr_t place) const {
  const std::uint16_t number = owners_[(place - reinterpret_cast<std::uintptr_t>(arena_)) / kPage];
  return number != 0 && place < allocations_[number - 1U].end ? &allocations_[number - 1U] : nullptr;
}

std::string DeviceMemory::distance(std::uintptr_t place, std::size_t bytes) const {
  const auto was_here = std::ranges::find_if(allocations_, [&](const Allocation& a) { return place >= a.begin && place + bytes <= a.end; });
  if (was_here != allocations_.end() || allocations_.empty()) return "memory that was freed";
  const auto distance_to = [&](const Allocation& a) { return place < a.begin ? a.begin - place : place + bytes - a.end; };
  const Allocation& near = *std::ranges::min_element(allocations_, {}, distance_to);
  const std::uintptr_t distance = distance_to(near);
  return fmt::format("{} {} {} {}", distance, distance == 1 ? "byte" : "bytes", place < near.begin ? "before" : "past the end of", near.name);
}

std::uint8_t* map_memory(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Error(ErrorKind::memory, "C63-MEMORY", "no memory for the emulated GPU");
  return static_cast<std::uint8_t*>(memory);
}

}  // namespace c63::race
