#include "race/emulated_device.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "c63/error.h"
#include "race/emulated_gpu.h"

namespace c63::race {
namespace {

constexpr int kInvalidValue = 1;
constexpr int kMostShared = kC63SharedBytes - 1024;  // bytes; CUDA itself takes 1 KiB of a thread block

}  // namespace

EmulatedDevice* EmulatedDevice::self = nullptr;

EmulatedDevice::EmulatedDevice(std::string path, std::string library, std::uint32_t seed)
    : path_(std::move(path)),
      library_(std::move(library)),
      opened_(open_library(library_, path_)),
      image_(image()),
      random_(seed),
      memory_(image_, threads_, random_, faults_, doubts_) {
  self = this;
  static constexpr C63EmulatedGpu kFunctions = {
      .place = [](int what) { return self->threads_.place(what); },
      .access =
          [](const void* at, unsigned long bytes, unsigned kind, void* from) {
            if (self->threads_.is_running()) self->memory_.access(at, bytes, kind, self->offset_of(from));
          },
      .out_of_array =
          [](void* from) {
            const char* const text = "an array's index is too large or negative";
            if (self->threads_.is_running()) self->threads_.stop("outside-array", text, self->offset_of(from));
            self->faults_.add("outside-array", self->offset_of(from), text);
          },
      .barrier = [](unsigned value, void* from) { return self->threads_.barrier(value, self->offset_of(from)); },
      .exchange = [](unsigned what, unsigned mask, unsigned long long value, unsigned source, void* from) {
        return self->threads_.exchange(what, mask, value, source, self->offset_of(from));
      },
      .copy = [](void* to, const void* from_memory, unsigned bytes, void* from) { self->memory_.copy(to, from_memory, bytes, self->offset_of(from)); },
      .end_copies = [] { self->memory_.end_copies(); },
      .wait_copies = [](unsigned left) { self->memory_.wait_copies(left); },
      .launch =
          [](void (*kernel)(void*), void* data, uint3 grid, uint3 block, unsigned long shared_bytes) {
            const auto three = [](uint3 v) { return std::array{static_cast<int>(v.x), static_cast<int>(v.y), static_cast<int>(v.z)}; };
            self->change_order();
            return self->launch([=] { kernel(data); }, three(grid), three(block), static_cast<int>(shared_bytes));
          },
      .allocate = [](unsigned long bytes, bool is_managed) { return self->allocate_for_program(bytes, is_managed); },
      .release = [](void* at) { return self->memory_.device().free(reinterpret_cast<std::uintptr_t>(at)) ? 0 : kInvalidValue; },
      .is_device = [](const void* at) { return self->memory_.device().contains(reinterpret_cast<std::uintptr_t>(at)); },
      .transfer = [](void* to, const void* from_memory, unsigned long bytes, int value,
                     void* from) { return self->memory_.transfer(to, from_memory, bytes, value, self->offset_of(from)) ? 0 : kInvalidValue; }};
  *static_cast<const C63EmulatedGpu**>(symbol("c63_emulated_gpu")) = &kFunctions;
}

EmulatedDevice::~EmulatedDevice() { ::dlclose(opened_); }

void* EmulatedDevice::symbol(const std::string& name) const { return ::dlsym(opened_, name.c_str()); }

EmulatedMemory::Image EmulatedDevice::image() const {
  const auto address_in = [&](const char* name) { return *static_cast<const std::uintptr_t*>(symbol(name)); };
  Dl_info info{};
  ::dladdr(symbol("c63_emulated_gpu"), &info);
  EmulatedMemory::Image image{.begin = reinterpret_cast<std::uintptr_t>(info.dli_fbase),
                              .shared_begin = address_in("c63_emulated_shared_begin"),
                              .shared_end = address_in("c63_emulated_shared_end"),
                              .dynamic = reinterpret_cast<std::uintptr_t>(symbol("c63_emulated_shared"))};
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& found = *static_cast<EmulatedMemory::Image*>(data);
        if (library->dlpi_addr != found.begin) return 0;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          if (part.p_type == PT_LOAD) found.bytes = std::max<std::size_t>(found.bytes, part.p_vaddr + part.p_memsz);
        }
        return 1;
      },
      &image);
  return image;
}

void* EmulatedDevice::allocate_for_program(std::size_t bytes, bool is_managed) {
  memory_.device().hide(false);
  std::uint8_t* const place = memory_.allocate(bytes, is_managed ? "memory of cudaMallocManaged()" : "memory of cudaMalloc()", order_, is_managed);
  memory_.device().hide(true);
  return place;
}

bool EmulatedDevice::host_fault(const void* at, std::span<void* const> frames) {
  if (!memory_.device().contains(reinterpret_cast<std::uintptr_t>(at))) return false;
  const auto is_own = [&](const void* frame) { return reinterpret_cast<std::uintptr_t>(frame) - image_.begin < image_.bytes; };
  const auto own = std::ranges::find_if(frames, is_own);
  faults_.add("host-access", own != frames.end() ? offset_of(*own) : 0, "the host reads or writes memory of the GPU: that needs cudaMemcpy()");
  return true;
}

int EmulatedDevice::launch(const std::function<void()>& kernel, const std::array<int, 3>& grid, const std::array<int, 3>& block, int shared_bytes) {
  const std::int64_t threads = std::int64_t{block[0]} * block[1] * block[2];
  constexpr int kInvalidConfiguration = 9;
  if (std::min({grid[0], grid[1], grid[2], block[0], block[1], block[2]}) < 1 || threads > kMostThreads) return kInvalidConfiguration;
  if (shared_bytes < 0 || shared_bytes > kMostShared) return kInvalidValue;
  const auto three = [](const std::array<int, 3>& v) { return uint3{static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]), static_cast<unsigned>(v[2])}; };
  memory_.begin_launch(static_cast<std::size_t>(shared_bytes), __builtin_frame_address(0));
  const auto count = [&] {
    if (memory_.counts() != nullptr) memory_.counts()->end_interval();
  };
  constexpr int kLaunchFailure = 719;
  memory_.device().hide(false);
  const bool is_good = threads_.run({.grid = three(grid), .block = three(block), .kernel = kernel, .block_begins = [&] { memory_.begin_block(order_); }, .interval_ends = count}, order_);
  memory_.device().hide(true);
  return is_good ? 0 : kLaunchFailure;
}

std::map<std::uint32_t, CodeLine> EmulatedDevice::lines(const std::vector<std::uint32_t>& places) const { return lines_of(places, library_, path_); }

std::vector<MotionSuspicion> EmulatedDevice::told(bool is_fault) const {
  const Notes& notes = is_fault ? faults_ : doubts_;
  std::vector<std::uint32_t> places;
  for (const auto& [key, note] : notes.all()) places.insert(places.end(), {key.second, note.other});
  const std::map<std::uint32_t, CodeLine> line_of = lines(places);
  std::map<std::pair<int, std::string>, MotionSuspicion> by_line;
  for (const auto& [key, note] : notes.all()) {
    const CodeLine& line = line_of.at(key.second);
    std::string text = note.text;
    if (line.line > 0) text = fmt::format("{}:{}: {}", line.file, line.line, text);
    if (note.other != 0 && line_of.at(note.other).line > 0) text += fmt::format(" (line {})", line_of.at(note.other).line);
    by_line.try_emplace({line.line, std::string(key.first)}, MotionSuspicion{std::string(key.first), text, 1});
  }
  std::vector<MotionSuspicion> all;
  for (auto& [line, suspicion] : by_line) all.push_back(std::move(suspicion));
  return all;
}

std::vector<LineCounts> EmulatedDevice::counts() const {
  const auto by_place = memory_.counts()->by_place();
  std::vector<std::uint32_t> places;
  for (const auto& [from, counts] : by_place) places.push_back(from);
  const std::map<std::uint32_t, CodeLine> line_of = lines(places);
  std::map<std::pair<int, bool>, LineCounts> by_line;
  for (const auto& [from, counts] : by_place) {
    const int line = line_of.at(from).line;
    by_line.try_emplace({line, counts.is_shared}, LineCounts{.line = line, .is_shared = counts.is_shared}).first->second.add(counts);
  }
  std::vector<LineCounts> all;
  for (const auto& [key, counts] : by_line) all.push_back(counts);
  return all;
}

void* open_library(const std::string& library, const std::string& path) {
  void* const opened = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw Error(ErrorKind::input, "C63-SEARCH-LOAD", std::string("cannot be loaded: ") + ::dlerror(), {.file = path});
  return opened;
}

}  // namespace c63::race
