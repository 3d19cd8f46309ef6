#include "common/backends.h"

#include <fmt/format.h>

#include <CLI/Validators.hpp>

#include "c63/error.h"
#include "common/machine.h"
#include "pipeline/backend.h"

// The only file that names all backends.

namespace c63::tools {
namespace {

/// Why no GPU can be used; empty where one can.
std::string cuda_obstacle() { return "this c63 was built without CUDA"; }

}  // namespace

void add_backend_options(CLI::App& app, BackendChoice& choice) {
  app.add_option("--backend", choice.name, "Where to encode: auto, cpu or cuda; auto takes a GPU where one can be used")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--device", choice.devices, "GPUs to use, by number, such as 0,1")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->type_name("LIST")
      ->group("Machine");
}

SelectedBackend cpu_backend() { return {open_cpu_backend}; }

SelectedBackend select_backend(const BackendChoice& choice, const std::function<void(const std::string&)>& note) {
  if (choice.name == "cpu") {
    if (!choice.devices.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "--device names GPUs, --backend the CPU");
    return cpu_backend();
  }
  const std::string obstacle = cuda_obstacle();
  if (choice.name == "cuda" || !choice.devices.empty()) {
    throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + obstacle);
  }
  note("encoding on the CPU: " + obstacle);
  return cpu_backend();
}

Encoder make_encoder(const EncoderSettings& settings, const SelectedBackend& backend,
                     const std::function<void(const std::string&)>& note) {
  Encoder encoder(settings, backend.factory);
  if (backend.fallback) encoder.set_fallback(backend.fallback, note);
  return encoder;
}

std::vector<std::string> list_devices() {
  const Machine machine = this_machine();
  std::vector<std::string> lines = {fmt::format("cpu: {}, {} logical CPUs, best SIMD level {}", machine.cpu,
                                                machine.logical_cpus, name(available_simd_levels().back()))};
  if (const std::string obstacle = cuda_obstacle(); !obstacle.empty()) lines.push_back("cuda: none, " + obstacle);
  return lines;
}

}  // namespace c63::tools
