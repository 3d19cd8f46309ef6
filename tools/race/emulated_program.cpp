#include <execinfo.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "c63/error.h"
#include "race/emulated_device.h"
#include "race/emulated_gpu.h"

namespace c63::race {
namespace {

constexpr int kFaultSeen = 3;

EmulatedDevice* device = nullptr;  ///< stays until the process ends, because the program's code does

/// Tells what was seen, when the program ends.
void tell_faults() {
  const std::vector<MotionSuspicion> faults = device->told(true);
  if (const char* const file = std::getenv("C63_EMULATED_FAULTS"); file != nullptr) {
    std::ofstream out(file, std::ios::app);
    for (const MotionSuspicion& fault : faults) out << "fault: " << fault.text << " [" << fault.id << "]\n";
    for (const MotionSuspicion& doubt : device->told(false)) out << "doubt: " << doubt.text << " [" << doubt.id << "]\n";
  }
  for (const MotionSuspicion& fault : faults) std::fprintf(stderr, "c63bench: %s [%s]\n", fault.text.c_str(), fault.id.c_str());
  std::fflush(nullptr);
  if (!faults.empty()) std::_Exit(kFaultSeen);
}

/// The program has accessed memory that is not its own.
void on_host_fault(int signal, siginfo_t* about, void*) {
  std::array<void*, 32> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  if (device->host_fault(about->si_addr, std::span(frames).first(static_cast<std::size_t>(count)))) tell_faults();
  std::signal(signal, SIG_DFL);
}

}  // namespace

void run_program(std::vector<std::string> words) {
  if (words.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "needs a program of c63bench nvcc");
  device = new EmulatedDevice({}, words.front(), 1);
  device->memory().device().free_all();
  const auto program = reinterpret_cast<int (*)(int, char**)>(device->symbol("main"));
  if (program == nullptr) throw Error(ErrorKind::input, "C63-SEARCH-LOAD", "has no function main()", {.file = words.front()});
  device->hide_from_host();
  std::atexit(tell_faults);
  struct sigaction action {};
  action.sa_sigaction = on_host_fault;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::exit(program(static_cast<int>(words.size()), arguments.data()));
}

}  // namespace c63::race
