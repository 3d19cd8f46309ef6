#include "race/emulated_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace c63::race {
namespace {

constexpr std::uintptr_t kMostParameters = 1 << 16;  // bytes of the host's stack that may hold parameters

}  // namespace

EmulatedMemory::EmulatedMemory(const Image& image, EmulatedThreads& threads, std::mt19937& random, Notes& faults, Notes& doubts)
    : image_(image), threads_(threads), random_(random), faults_(faults), doubts_(doubts), image_shadow_(image.bytes), copies_(kMostThreads) {}

std::uint8_t* EmulatedMemory::allocate(std::size_t bytes, const char* name, unsigned order, bool is_managed) {
  std::uint8_t* const place = device_.allocate(bytes, name, false, is_managed);
  if (place != nullptr) fill(place, bytes, order);
  if (place != nullptr && is_managed) device_.find(reinterpret_cast<std::uintptr_t>(place))->shadow->set_written(0, bytes, threads_.host_stamp());
  return place;
}

void EmulatedMemory::begin_launch(std::size_t dynamic_bytes, const void* stack) {
  dynamic_bytes_ = dynamic_bytes;
  host_stack_ = reinterpret_cast<std::uintptr_t>(stack);
}

void EmulatedMemory::begin_block(unsigned order) {
  fill(reinterpret_cast<std::uint8_t*>(image_.dynamic), dynamic_bytes_, order);
  const std::uintptr_t after_dynamic = image_.dynamic + kC63SharedBytes;
  fill(reinterpret_cast<std::uint8_t*>(after_dynamic), image_.shared_end - after_dynamic, order);
  for (Copies& copies : copies_) {
    copies.groups = 0;
    copies.all.clear();
  }
  if (counts_) counts_->forget_block();
}

/// Fills memory with what it may hold before anybody has written: other bytes in each order.
void EmulatedMemory::fill(std::uint8_t* at, std::size_t bytes, unsigned order) {
  const unsigned how = order % 3;
  std::generate_n(at, bytes, [&] { return static_cast<std::uint8_t>(how == 0 ? 0xFF : how == 1 ? 0 : random_()); });
}

void EmulatedMemory::access(const void* at, std::size_t bytes, unsigned kind, std::uint32_t from) {
  const auto place = reinterpret_cast<std::uintptr_t>(at);
  if (threads_.is_on_stack(place)) return;
  const bool is_write = (kind & kC63Write) != 0;
  if ((bytes & (bytes - 1)) == 0 && bytes <= 16 && place % bytes != 0 && bytes > 2) {
    threads_.stop("misaligned", fmt::format("an access of {} bytes to an address that is no multiple of {}", bytes, bytes), from);
  }
  if (place - image_.begin < image_.bytes) {
    const bool is_shared = place >= image_.shared_begin && place < image_.shared_end;
    if (place - image_.dynamic < kC63SharedBytes && place - image_.dynamic + bytes > dynamic_bytes_) {
      threads_.stop(is_write ? "writes-outside" : "reads-outside",
                    fmt::format("{} shared memory {} bytes past its {} bytes", is_write ? "writes" : "reads",
                                place - image_.dynamic + bytes - dynamic_bytes_, dynamic_bytes_),
                    from);
    }
    check(image_shadow_, place - image_.begin, bytes, is_shared, kind, from);
    if (counts_ && is_shared) counts_->add(threads_.index(), place, bytes, true, from);
  } else if (device_.contains(place)) {
    const DeviceMemory::Allocation* const at_place = device_.find(place);
    if (at_place == nullptr || place + bytes > at_place->end) {
      threads_.stop(is_write ? "writes-outside" : "reads-outside", (is_write ? "writes " : "reads ") + device_.distance(place, bytes), from);
    }
    if (at_place->shadow) {
      check(*at_place->shadow, place - at_place->begin, bytes, false, kind, from);
    } else if (is_write) {
      threads_.stop("writes-planes", std::string("writes into ") + at_place->name, from);
    }
    if (counts_) counts_->add(threads_.index(), place, bytes, false, from);
  } else if (is_write || place - host_stack_ >= kMostParameters) {
    threads_.stop("illegal-access", std::string(is_write ? "writes to " : "reads ") + (place < 65536 ? "a null pointer" : "an address far from all memory"), from);
  }
  threads_.count_access((kind & kC63Together) != 0 && !is_write, from);
}

bool EmulatedMemory::transfer(void* to, const void* from_memory, std::size_t bytes, int value, std::uint32_t from) {
  const auto allocation_of = [&](const void* at, const char* what) -> const DeviceMemory::Allocation* {
    const auto place = reinterpret_cast<std::uintptr_t>(at);
    const DeviceMemory::Allocation* const found = device_.find(place);
    if (found != nullptr && place + bytes <= found->end) return found;
    faults_.add(what[0] == 'w' ? "writes-outside" : "reads-outside", from, what + device_.distance(place, bytes));
    return nullptr;
  };
  const auto is_device = [&](const void* at) { return device_.contains(reinterpret_cast<std::uintptr_t>(at)); };
  if (from_memory != nullptr && is_device(from_memory) && allocation_of(from_memory, "a copy reads ") == nullptr) return false;
  if (is_device(to)) {
    const DeviceMemory::Allocation* const found = allocation_of(to, "writes ");
    if (found == nullptr) return false;
    found->shadow->set_written(reinterpret_cast<std::uintptr_t>(to) - found->begin, bytes, threads_.host_stamp());
  }
  device_.hide(false);
  from_memory != nullptr ? std::memmove(to, from_memory, bytes) : std::memset(to, value, bytes);
  device_.hide(true);
  return true;
}

void EmulatedMemory::copy(void* to, const void* from_memory, unsigned bytes, std::uint32_t from) {
  if (bytes != 4 && bytes != 8 && bytes != 16) threads_.stop("misaligned", "an asynchronous copy has 4, 8 or 16 bytes", from);
  access(from_memory, bytes, kC63Read, from);
  access(to, bytes, kC63Write, from);
  image_shadow_.set_pending(reinterpret_cast<std::uintptr_t>(to) - image_.begin, bytes);
  Copies& mine = copies_[static_cast<std::size_t>(threads_.index())];
  mine.all.push_back({static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from_memory), bytes, mine.groups, from});
}

void EmulatedMemory::wait_copies(unsigned left) {
  Copies& mine = copies_[static_cast<std::size_t>(threads_.index())];
  std::erase_if(mine.all, [&](const Copy& c) {
    if (c.group + left >= mine.groups) return false;
    std::copy_n(c.from_memory, c.bytes, c.to);
    check(image_shadow_, reinterpret_cast<std::uintptr_t>(c.to) - image_.begin, c.bytes, true, kC63Write, c.from);
    return true;
  });
}

}  // namespace c63::race
