#include "race/search_process.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

#include "c63/error.h"

namespace c63::race {
namespace {

constexpr std::array kNames = {"the current plane", "the reference plane", "the vectors", "the SADs"};
constexpr std::size_t kGuardPages = 16;
constexpr std::size_t kOtherPlaces = 16;  ///< an area begins at one of these pages

enum State : std::uint32_t { kIdle, kPrepare, kReady, kGo, kDone, kThrew };

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint8_t* page_of(std::uint8_t* at) { return at - reinterpret_cast<std::uintptr_t>(at) % page_bytes(); }

double now_by(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double cpu_time_of(pid_t process) {
  clockid_t clock = 0;
  return ::clock_getcpuclockid(process, &clock) == 0 ? now_by(clock) : 0;
}

}  // namespace

std::span<std::uint8_t> SharedArea::pages() const {
  std::uint8_t* const first = page_of(data);
  return {first, page_of(data + bytes + page_bytes() - 1)};
}

std::uint8_t* SharedArea::fill(std::span<const std::uint8_t> values, std::uint8_t fill_around, bool at_end, std::size_t page) {
  const std::size_t inner = (values.size() + page_bytes() - 1) / page_bytes() * page_bytes();
  bytes = values.size();
  data = slot + (kGuardPages + page) * page_bytes() + (at_end ? inner - bytes : 0);
  around = fill_around;
  std::ranges::fill(pages(), around);
  std::ranges::copy(values, data);
  return data;
}

bool SharedArea::is_untouched_around() const {
  const auto all = pages();
  const auto is_around = [this](std::uint8_t b) { return b == around; };
  return std::all_of(all.data(), data, is_around) && std::all_of(data + bytes, all.data() + all.size(), is_around);
}

struct SearchProcess::Shared {
  std::atomic<std::uint32_t> state = kIdle;
  c63_motion_job job{};
  std::array<SharedArea, 4> areas{};
  std::array<SharedArea, 4> areas_before{};  ///< of the last search
  char text[256] = {};  ///< what a crash touched, or the message of an exception
  char id[32] = {};     ///< of an Error, or of the cause of a crash; empty: another exception
  ErrorKind kind = ErrorKind::internal;
  bool threw = false;

  void set(State next) {
    state.store(next, std::memory_order_release);
    ::syscall(SYS_futex, &state, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  /// Waits for another state than `known`, at most 50 ms unless `forever`.
  void wait(std::uint32_t known, bool forever = false) {
    const timespec most{0, 50'000'000};
    ::syscall(SYS_futex, &state, FUTEX_WAIT, known, forever ? nullptr : &most, nullptr, 0);
  }
  [[nodiscard]] std::uint32_t current() const { return state.load(std::memory_order_acquire); }

  /// Lets the search see only the areas of the next case, and touches their pages, so that caches and page tables are in the
  /// same state before each search.
  void prepare() const {
    for (const SharedArea& area : areas) {
      ::mprotect(area.slot, area.slot_bytes, PROT_NONE);
      ::mprotect(area.pages().data(), area.pages().size(), area.is_result ? PROT_READ | PROT_WRITE : PROT_READ);
      for (std::size_t i = 0; i < area.bytes; i += 32) {
        auto* const byte = const_cast<volatile std::uint8_t*>(area.data + i);
        const std::uint8_t value = *byte;
        if (area.is_result) *byte = value;
      }
    }
  }
  /// Searches, and keeps what it throws.
  void search(const HostSearch& search) noexcept {
    threw = false;
    try {
      search(job);
      return;
    } catch (const Error& error) {
      std::snprintf(id, sizeof id, "%s", error.id().c_str());
      std::snprintf(text, sizeof text, "%s", error.message().c_str());
      kind = error.kind();
    } catch (const std::exception& error) {
      std::snprintf(text, sizeof text, "%s", error.what());
    }
    threw = true;
  }

  static void on_crash(int signal, siginfo_t* info, void*);
  static Shared* of_this_process;  ///< for on_crash()
};

SearchProcess::Shared* SearchProcess::Shared::of_this_process = nullptr;

void SearchProcess::Shared::on_crash(int signal, siginfo_t* info, void*) {
  Shared& shared = *of_this_process;
  const auto* const address = static_cast<const std::uint8_t*>(info->si_addr);
  const auto hit = std::ranges::find_if(shared.areas, [address](const SharedArea& a) { return address >= a.slot && address < a.slot + a.slot_bytes; });
  const auto is_in_last = [address](const SharedArea& a) { return address >= a.data && address < a.data + a.bytes; };
  const bool is_late = shared.current() != kGo || std::ranges::any_of(shared.areas_before, is_in_last);
  const auto write = [&shared](const char* cause, auto... values) {
    std::snprintf(shared.id, sizeof shared.id, "%s", cause);
    std::snprintf(shared.text, sizeof shared.text, values...);
  };
  if (signal != SIGSEGV && signal != SIGBUS) {
    write("crash", "crashes: %s", signal == SIGFPE ? "a division by zero" : "an instruction that this CPU does not have");
  } else if (is_late && (hit == shared.areas.end() || !is_in_last(*hit))) {
    write("works-after", "crashes: %s", "a thread works on after its search has returned");
  } else if (hit == shared.areas.end()) {
    write("crash", "crashes: %s", reinterpret_cast<std::uintptr_t>(address) < 65536 ? "it uses a null pointer" : "an address far from its planes and results");
  } else {
    const char* const name = kNames[static_cast<std::size_t>(hit - shared.areas.begin())];
    const bool is_before = address < hit->data;
    if (!is_before && address < hit->data + hit->bytes) {
      write("writes-planes", "crashes: it writes into %s", name);
    } else {
      const std::ptrdiff_t far = is_before ? hit->data - address : address - hit->data - static_cast<std::ptrdiff_t>(hit->bytes) + 1;
      write(hit->is_result ? "writes-outside" : "reads-outside", "crashes: it %s %zd %s %s %s", hit->is_result ? "writes or reads" : "reads",
            far, far == 1 ? "byte" : "bytes", is_before ? "before" : "past the end of", name);
    }
  }
  std::signal(signal, SIG_DFL);  // the instruction is executed again, and ends the process
}

SearchProcess::SearchProcess(const std::function<HostSearch()>& open, const SearchProcessOptions& options) : options_(options) {
  const std::size_t slot = (2 * kGuardPages + kOtherPlaces + 2 + options.most_samples / page_bytes()) * page_bytes();
  const std::size_t all = page_bytes() + 4 * slot;
  void* const memory = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Error(ErrorKind::memory, "C63-MEMORY", "no memory for the cases of the race");
  shared_ = new (memory) Shared;
  for (std::size_t i = 0; i < 4; ++i) {
    areas_[i] = {.slot = static_cast<std::uint8_t*>(memory) + page_bytes() + i * slot, .slot_bytes = slot, .is_result = i >= 2};
  }
  if (options.in_process) {
    here_ = open();
    return;
  }
  std::fflush(stdout);
  process_ = ::fork();
  if (process_ < 0) throw Error(ErrorKind::internal, "C63-PROCESS", "cannot start a process for the search");
  if (process_ > 0) {
    ::setpgid(process_, process_);
    return;
  }
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::madvise(memory, all, MADV_DONTFORK);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  std::atexit([] { ::syscall(SYS_exit_group, 0); });  // runs first, so nothing of this program is ended twice
  Shared::of_this_process = shared_;
  static std::array<char, 1 << 16> stack;
  const stack_t own{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = Shared::on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
  const auto limit = [](auto resource, std::uint64_t most) {
    const rlimit limits{most, most};
    if (most > 0) ::setrlimit(resource, &limits);
  };
  limit(RLIMIT_AS, options.memory);
  limit(RLIMIT_CPU, static_cast<std::uint64_t>(std::ceil(options.cpu_seconds)));
  limit(RLIMIT_FSIZE, options.file_bytes);
  limit(RLIMIT_NOFILE, static_cast<std::uint64_t>(options.files));
  limit(RLIMIT_CORE, 1);
  options.starts();
  HostSearch search;
  for (Shared& shared = *shared_;;) {
    for (std::uint32_t state = shared.current(); state != kPrepare; state = shared.current()) shared.wait(state, true);
    shared.prepare();
    shared.set(kReady);
    while (shared.current() != kGo) ::sched_yield();
    if (!search) shared.search([&](const c63_motion_job&) { search = open(); });
    if (search) shared.search(search);
    shared.set(shared.threw ? kThrew : kDone);
  }
}

SearchProcess::~SearchProcess() {
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::munmap(shared_, page_bytes() + 4 * areas_[0].slot_bytes);
}

void SearchProcess::throw_end() {
  int status = 0;
  rusage usage{};
  ::kill(-process_, SIGKILL);
  ::wait4(process_, &status, 0, &usage);
  process_ = 0;
  SearchEnded end;
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.timed_out = options_.seconds > 0 && waited_s_ > options_.seconds;
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  end.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  end.place.assign(shared_->text, ::strnlen(shared_->text, sizeof shared_->text));
  end.cause.assign(shared_->id, ::strnlen(shared_->id, sizeof shared_->id));
  throw end;
}

MotionSuspicion cause_of(const SearchEnded& end) {
  if (end.exit_code <= 128) return {"exits", "it calls exit(): a search returns", 1};
  if (end.cause.ends_with("-outside")) {
    return {end.cause, "a row or column too many: rows end at the width, planes at the last row, results at the last block", 1};
  }
  if (end.cause == "works-after") return {end.cause, "when a search returns, all of its work must be done", 1};
  if (end.cause == "writes-planes") return {end.cause, "the planes must not be written to", 1};
  return {"crash", "a pointer or an array index that was not set, or is far too large", 1};
}

void SearchProcess::wait_until(std::uint32_t state) {
  // Looking for the result, instead of sleeping, finds its time to the microsecond. A long search is not disturbed by it.
  constexpr double kLooked = 0.02;
  double start = now_by(CLOCK_MONOTONIC);
  const double looked_until = start + kLooked;
  for (;;) {
    const std::uint32_t current = shared_->current();
    if (current == state || current == kThrew) return;
    if (now_by(CLOCK_MONOTONIC) < looked_until) {
      ::sched_yield();
      continue;
    }
    shared_->wait(current);
    siginfo_t ended{};
    const bool has_ended = ::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0;
    waited_s_ += now_by(CLOCK_MONOTONIC) - start;
    start = now_by(CLOCK_MONOTONIC);
    if (has_ended || (options_.seconds > 0 && waited_s_ > options_.seconds)) throw_end();
    options_.while_waiting();
  }
}

SearchedCase SearchProcess::search(const RaceCase& c, const CaseLayout& layout) {
  SearchedCase found{.results = SearchResults::poisoned(c.blocks(), layout.poison)};
  const auto in = [](auto& values) { return std::span(reinterpret_cast<std::uint8_t*>(values.data()), values.size() * sizeof values[0]); };
  SharedArea& current = areas_[0];
  SharedArea& reference = areas_[1];
  SharedArea& vectors = areas_[2];
  SharedArea& sads = areas_[3];
  const auto differ = [&](SearchResults& results) {
    return !std::ranges::equal(in(results.vectors), vectors.content()) || !std::ranges::equal(in(results.sads), sads.content());
  };
  // A thread that the last search has left may have written results after that search had returned.
  found.works_after = !last_.sads.empty() && differ(last_);
  if (here_) {  // the last search has protected them
    for (const SharedArea& area : areas_) ::mprotect(area.slot, area.slot_bytes, PROT_READ | PROT_WRITE);
  }
  std::mt19937 places(layout.place != 0 ? layout.place : std::random_device{}());
  const auto fill = [&](SharedArea& area, std::span<const std::uint8_t> bytes, std::uint8_t around) {
    return area.fill(bytes, around, layout.at_end, places() % kOtherPlaces);
  };
  shared_->job = {.current = fill(current, c.current, layout.around),
                  .reference = fill(reference, c.reference, layout.around),
                  .current_pitch = c.current_pitch,
                  .reference_pitch = c.reference_pitch,
                  .width = c.width,
                  .height = c.height,
                  .range = c.range,
                  .vectors = reinterpret_cast<c63_motion_vector*>(fill(vectors, in(found.results.vectors), layout.poison)),
                  .sads = reinterpret_cast<unsigned short*>(fill(sads, in(found.results.sads), layout.poison))};
  shared_->areas_before = std::exchange(shared_->areas, areas_);
  constexpr double kIdleCpu = 20e-3;  // a process that only waits uses less; some systems count in steps of 10 ms
  if (here_) {
    shared_->prepare();
    const double start = now_by(CLOCK_MONOTONIC);
    here_(shared_->job);
    found.seconds = now_by(CLOCK_MONOTONIC) - start;
  } else {
    found.works_after |= cpu_after_ > 0 && cpu_time_of(process_) > cpu_after_ + kIdleCpu;
    shared_->set(kPrepare);
    wait_until(kReady);
    const double cpu = cpu_time_of(process_);
    const double start = now_by(CLOCK_MONOTONIC);
    shared_->state.store(kGo, std::memory_order_release);
    wait_until(kDone);
    found.seconds = now_by(CLOCK_MONOTONIC) - start;
    cpu_after_ = cpu_time_of(process_);
    found.cpu_seconds = cpu_after_ - cpu;
    if (shared_->current() == kThrew) throw_what_it_threw();
  }
  std::ranges::copy(vectors.content(), in(found.results.vectors).begin());
  std::ranges::copy(sads.content(), in(found.results.sads).begin());
  found.past_results = !vectors.is_untouched_around() || !sads.is_untouched_around();
  found.wrote_planes = !current.is_untouched_around() || !std::ranges::equal(current.content(), c.current) ||
                       !reference.is_untouched_around() || !std::ranges::equal(reference.content(), c.reference);
  found.works_after |= differ(found.results);
  last_ = found.results;
  return found;
}

void SearchProcess::throw_what_it_threw() {
  const std::string text(shared_->text, ::strnlen(shared_->text, sizeof shared_->text));
  const std::string id(shared_->id, ::strnlen(shared_->id, sizeof shared_->id));
  if (id.empty()) throw SearchFailed(text);
  throw Error(shared_->kind, id, text);
}

void SearchProcess::judge(Judge& judge, std::uint32_t seed, int range, const std::function<void(const std::string&)>& next) {
  constexpr std::array kCalls = {std::size_t{1}};
  constexpr int kSearchesAgain = 3;
  judge.judge([this](std::span<const RaceCase> cases, const CaseLayout& layout) { return std::vector{search(cases.front(), layout)}; },
              seed, range, kCalls, kSearchesAgain, next);
}

}  // namespace c63::race
