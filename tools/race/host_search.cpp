#include "race/host_search.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "c63/error.h"

namespace c63::race {
namespace {

constexpr int kRegions = 4;  ///< two planes, vectors, SADs

/// A memory area of the running search. The signal handler compares the address of a crash with it.
struct Region {
  const char* name = nullptr;
  std::uintptr_t begin = 0;  ///< first byte that the search may use
  std::uintptr_t end = 0;
  std::uintptr_t lowest = 0;  ///< first byte of the pages around it
  std::uintptr_t highest = 0;
  bool may_be_written = false;
};
std::array<Region, kRegions> regions;
int crash_file = -1;

/// Writes a line to crash_file. Formatting into an array allocates nothing, so a signal handler may call it.
template <typename... Values>
void write_crash(fmt::format_string<const Values&...> format, const Values&... values) {
  char text[256];
  const char* const end = fmt::format_to_n(text, sizeof text, format, values...).out;
  if (crash_file >= 0) static_cast<void>(!::write(crash_file, text, static_cast<std::size_t>(end - text)));
}

void on_crash(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Region* hit = nullptr;
  for (const Region& region : regions) {
    if (address >= region.lowest && address < region.highest) hit = &region;
  }
  if (signal != SIGSEGV && signal != SIGBUS) {
    write_crash("crashes: {}", signal == SIGFPE ? "a division by zero" : "an instruction that this CPU does not have");
  } else if (hit == nullptr) {
    write_crash("crashes: {}", address < 65536 ? "it uses a null pointer" : "an address far from its planes and results");
  } else if (address >= hit->begin && address < hit->end) {
    write_crash("crashes: it writes into {}", hit->name);
  } else {
    const bool is_before = address < hit->begin;
    write_crash("crashes: it {} {} bytes {} {}", hit->may_be_written ? "writes or reads" : "reads",
                is_before ? hit->begin - address : address - hit->end + 1, is_before ? "before" : "past the end of", hit->name);
  }
  ::_exit(128 + signal);
}

/// Bytes whose end or start is at a page border. The pages outside may not be touched.
class GuardedPages {
 public:
  GuardedPages(std::size_t bytes, bool against_end) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    guard_ = 16 * page;
    inner_ = (bytes + page - 1) / page * page;
    mapped_ = inner_ + 2 * guard_;
    void* const base = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw Error(ErrorKind::memory, "C63-MEMORY", "no memory for the cases of the race");
    base_ = static_cast<std::uint8_t*>(base);
    data_ = base_ + guard_ + (against_end ? inner_ - bytes : 0);
    set_writable(true);
  }
  ~GuardedPages() {
    if (base_ != nullptr) ::munmap(base_, mapped_);
  }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  [[nodiscard]] std::uint8_t* data() const { return data_; }
  void set_writable(bool writable) const {
    static_cast<void>(::mprotect(base_ + guard_, inner_, writable ? PROT_READ | PROT_WRITE : PROT_READ));
  }
  /// Fills the rest of the first and last page, outside the search's bytes.
  void fill_around(std::uint8_t value) const {
    std::fill(base_ + guard_, data_, value);
    std::fill(data_ + bytes_, base_ + guard_ + inner_, value);
  }
  [[nodiscard]] bool around_is(std::uint8_t value) const {
    const auto is_value = [value](std::uint8_t b) { return b == value; };
    return std::all_of(base_ + guard_, data_, is_value) &&
           std::all_of(data_ + bytes_, base_ + guard_ + inner_, is_value);
  }
  void describe(Region& region, const char* name, bool may_be_written) const {
    const auto at = [](const std::uint8_t* p) { return reinterpret_cast<std::uintptr_t>(p); };
    region = {name, at(data_), at(data_ + bytes_), at(base_), at(base_ + mapped_), may_be_written};
  }

 private:
  std::size_t bytes_;
  std::size_t guard_ = 0;
  std::size_t inner_ = 0;
  std::size_t mapped_ = 0;
  std::uint8_t* base_ = nullptr;
  std::uint8_t* data_ = nullptr;
};

SearchedCase search_once(const RaceCase& c, const HostSearch& search, const CaseLayout& layout) {
  const GuardedPages current(c.current.size(), layout.at_end);
  const GuardedPages reference(c.reference.size(), layout.at_end);
  const GuardedPages vectors(c.blocks() * sizeof(MotionVector), layout.at_end);
  const GuardedPages sads(c.blocks() * sizeof(std::uint16_t), layout.at_end);
  std::ranges::copy(c.current, current.data());
  std::ranges::copy(c.reference, reference.data());
  current.fill_around(layout.around);
  reference.fill_around(layout.around);
  std::fill_n(vectors.data(), c.blocks() * sizeof(MotionVector), layout.poison);
  std::fill_n(sads.data(), c.blocks() * sizeof(std::uint16_t), layout.poison);
  vectors.fill_around(layout.poison);
  sads.fill_around(layout.poison);
  current.set_writable(false);
  reference.set_writable(false);
  current.describe(regions[0], "the current plane", false);
  reference.describe(regions[1], "the reference plane", false);
  vectors.describe(regions[2], "the vectors", true);
  sads.describe(regions[3], "the SADs", true);
  search({.current = current.data(),
          .reference = reference.data(),
          .current_pitch = c.current_pitch,
          .reference_pitch = c.reference_pitch,
          .width = c.width,
          .height = c.height,
          .range = c.range,
          .vectors = reinterpret_cast<c63_motion_vector*>(vectors.data()),
          .sads = reinterpret_cast<unsigned short*>(sads.data())});
  regions = {};
  SearchedCase found{.results = SearchResults::poisoned(c.blocks(), layout.poison),
                     .past_results = !vectors.around_is(layout.poison) || !sads.around_is(layout.poison)};
  std::memcpy(found.results.vectors.data(), vectors.data(), c.blocks() * sizeof(MotionVector));
  std::memcpy(found.results.sads.data(), sads.data(), c.blocks() * sizeof(std::uint16_t));
  return found;
}

}  // namespace

SearchLibrary::SearchLibrary(const std::string& path) {
  handle_ = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr)
    throw Error(ErrorKind::input, "C63-SEARCH-LOAD", std::string("cannot be loaded: ") + ::dlerror(), {.file = path});
  search_ = reinterpret_cast<void (*)(const c63_motion_job*)>(::dlsym(handle_, "c63_motion_search"));
  if (search_ == nullptr) {
    ::dlclose(handle_);
    throw Error(ErrorKind::usage, "C63-SEARCH-FORM",
                "has no function c63_motion_search(): write C63_MOTION_EXPORT void c63_motion_search(const "
                "c63_motion_job* job) "
                "(c63/motion_kernel.h)",
                {.file = path});
  }
}

SearchLibrary::~SearchLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void judge_on_host(Judge& judge, const HostSearch& search, std::uint32_t seed, int range,
                   const std::function<void(const std::string&)>& next) {
  constexpr std::array kCalls = {std::size_t{1}};
  constexpr int kSearchesAgain = 3;
  judge.judge([&](std::span<const RaceCase> cases,
                  const CaseLayout& layout) { return std::vector{search_once(cases.front(), search, layout)}; },
              seed, range, kCalls, kSearchesAgain, next);
}

void catch_crashes(const std::string& file) {
  crash_file = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  static std::array<char, 1 << 16> stack;
  const stack_t own{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
}

}  // namespace c63::race
