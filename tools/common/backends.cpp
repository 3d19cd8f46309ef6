#include "common/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <future>
#include <memory>
#include <sstream>
#include <utility>

#include "backend/backend.h"
#include "c63/device_choice.h"
#include "c63/error.h"
#include "common/errors.h"
#include "common/options.h"
#include "common/report.h"
#include "common/values.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/backend.h"
#include "c63/cuda/decoder.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/film_device.h"
#include "c63/cuda/motion_estimator.h"
#endif

// Programs get their backends only from this file. The one exception is `c63bench encode`: it opens its GPUs itself
// (bench/cuda/bench_encode.cpp).

namespace c63::tools {
namespace {

#if defined(C63_HAVE_CUDA)

/// Returns the reason why no GPU can be used, as far as that is known without opening one. Empty if a GPU may be
/// usable.
std::string cuda_obstacle() {
  const cuda::DeviceList& list = cuda::listed_devices();
  return list.state == cuda::DeviceState::usable ? "" : list.reason;
}

bool wants_all(const BackendChoice& choice) { return std::ranges::find(choice.devices, "all") != choice.devices.end(); }

struct WantedDevice {
  int index = 0;   ///< the number that CUDA gives it after show_only_devices()
  int number = 0;  ///< the number that the user gave
};

/// Selects the GPUs to use and hides all others from CUDA. Must run before any other call of CUDA.
std::vector<WantedDevice> show_wanted_devices(const BackendChoice& choice) {
  std::vector<WantedDevice> wanted;
  for (const std::string& device : choice.devices) wanted.push_back({std::stoi(device), std::stoi(device)});
  if (wanted.empty()) wanted.push_back({});
  std::vector<int> shown;
  for (const WantedDevice& device : wanted) shown.push_back(device.number);
  std::ranges::sort(shown);
  shown.erase(std::ranges::unique(shown).begin(), shown.end());
  if (!show_only_devices(shown)) return wanted;  // no GPUs are hidden: the factory reports the missing one
  for (WantedDevice& device : wanted) {
    device.index = static_cast<int>(std::ranges::find(shown, device.number) - shown.begin());
  }
  return wanted;
}

cuda::CudaBackendOptions cuda_options(const BackendChoice& choice) {
  cuda::CudaBackendOptions options;
  if (choice.motion_kernel) options.motion_kernel = *choice.motion_kernel;
  if (choice.upload == "pair") options.upload = cuda::UploadMode::pair;
  options.graphs = choice.launch != "stream";
  return options;
}

/// Starts to open the GPUs in the background. The driver needs a quarter of a second for each. The factory of a GPU
/// waits until that GPU is open. If the user asked for all GPUs, unusable ones are left out.
std::vector<BackendFactory> cuda_factories(const BackendChoice& choice, const std::vector<WantedDevice>& devices) {
  std::vector<std::shared_future<void>> opening;
  cuda::CudaBackendOptions options = cuda_options(choice);
  for (const WantedDevice& device : devices) {
    const auto open = [index = device.index] { static_cast<void>(cuda::require_device(index)); };
    opening.push_back(std::async(std::launch::async, open).share());
    options.devices.push_back(device.index);
    options.numbers.push_back(device.number);
  }
  std::vector<BackendFactory> all = cuda::make_backend_factories(options);
  std::vector<BackendFactory> factories;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (wants_all(choice)) {
      try {
        opening[i].get();
      } catch (const Error&) {
        const bool last = i + 1 == devices.size();
        if (!last || !factories.empty()) continue;
      }
    }
    factories.emplace_back(
        [factory = std::move(all[i]), opened = opening[i]](const ResolvedEncode& encode, int max_chains) {
          opened.get();
          return factory(encode, max_chains);
        });
  }
  return factories;
}

std::vector<std::string> cuda_devices() {
  std::vector<std::string> lines;
  for (const cuda::DeviceInfo& info : cuda::devices().devices) {
    lines.push_back(fmt::format("cuda:{}: {}, sm_{}, {} multiprocessors, {:.1f} GiB{}", info.index, info.name,
                                info.architecture, info.multiprocessors,
                                static_cast<double>(info.memory_bytes) / (1 << 30),
                                info.state == cuda::DeviceState::usable ? "" : ", cannot be used: " + info.reason));
  }
  return lines;
}

std::vector<std::string> motion_kernels() { return cuda::motion_kernel_names(); }

#else

std::string cuda_obstacle() { return not_built_with_cuda().message(); }
std::vector<std::string> cuda_devices() { return {}; }
std::vector<std::string> motion_kernels() { return {}; }

#endif

}  // namespace

/// Files with a motion kernel of the user.
constexpr std::array<std::string_view, 4> kKernelFiles = {".cu", ".cubin", ".ptx", ".so"};

void add_backend_options(CLI::App& app, BackendChoice& choice) {
  const std::vector<std::string> kernels = motion_kernels();
  const std::span<const std::string_view> files = kernels.empty() ? std::span<const std::string_view>() : kKernelFiles;
  add_options(app, "Machine",
              {{"backend", &choice.names, "", "", {.choices = {"auto", "cpu", "cuda"}, .delimiter = ',', .takes_one = true}},
               {"device", &choice.devices, "", "", {.least = 0, .most = 1023, .choices = {"all"}, .delimiter = ',', .takes_one = true}},
               {"--me-kernel", &choice.motion_kernel, "NAME",
                "Motion search kernel of the GPU, or a file with your own: .cu, .cubin, .ptx or .so",
                {.choices = kernels, .extensions = files}},
               {"--upload", &choice.upload, "NAME",
                "What is copied to the GPU for each frame: frame, or pair (the frame and its reference)",
                {.choices = {"frame", "pair"}, .standard = "frame"}},
               {"--launch", &choice.launch, "NAME",
                "How GPU kernels are launched: stream (one by one), or auto (as a recorded graph if a GPU has one lane)",
                {.choices = {"auto", "stream"}, .standard = "auto"}}});
}

SelectedBackend cpu_backend() { return {{open_cpu_backend}}; }

/// Returns the option that needs a GPU, or null if the user gave none.
static const char* option_for_gpu(const BackendChoice& choice) {
  return !choice.devices.empty() ? "--device"
         : choice.motion_kernel  ? "--me-kernel"
         : choice.upload         ? "--upload"
         : choice.launch         ? "--launch"
                                 : nullptr;
}

bool decides_by_length([[maybe_unused]] const BackendChoice& choice) {
#if defined(C63_HAVE_CUDA)
  const bool automatic = choice.names == std::vector<std::string>{"auto"} && option_for_gpu(choice) == nullptr;
  return automatic && !choice.at_once && !choice.sharer && cuda::has_device_files();
#else
  return false;
#endif
}

SelectedBackend select_backend(const BackendChoice& choice, [[maybe_unused]] std::optional<double> cpu_ms,
                               [[maybe_unused]] const std::function<void(const std::string&)>& note) {
  const auto names = [&](const char* name) { return std::ranges::count(choice.names, name); };
  if (names("cpu") > 1 || names("cuda") > 1 || (names("auto") > 0 && choice.names.size() > 1)) {
    throw Error(ErrorKind::usage, "C63-USAGE", "--backend takes auto alone, or cpu and cuda once each");
  }
  const bool on_cpu = names("cpu") > 0;
  const char* const of_gpu = option_for_gpu(choice);
  if (on_cpu && names("cuda") == 0) {
    if (of_gpu != nullptr) {
      throw Error(ErrorKind::usage, "C63-USAGE",
                  fmt::format("{} is for a GPU, but --backend names only the CPU", of_gpu));
    }
    return cpu_backend();
  }
#if !defined(C63_HAVE_CUDA)
  if (choice.motion_kernel) throw not_built_with_cuda();  // this build knows no kernel names
#endif
  const bool demanded = names("cuda") > 0 || of_gpu != nullptr;
#if defined(C63_HAVE_CUDA)
  std::vector<WantedDevice> devices;
  ask_for_queues(choice.queues);
  const bool shares = choice.sharer && choice.devices.empty();
  if (decides_by_length(choice)) {
    const DeviceChoice decided = choose_device(cpu_ms);
    note(decided.reason);
    if (!decided.gpu) return cpu_backend();
  }
  if (!wants_all(choice) && !shares) devices = show_wanted_devices(choice);
#endif
  const std::string obstacle = cuda_obstacle();
#if defined(C63_HAVE_CUDA)
  if (obstacle.empty()) {
    if (wants_all(choice)) {
      for (const cuda::DeviceInfo& info : cuda::listed_devices().devices) devices.push_back({info.index, info.index});
    }
    if (shares) {
      const auto count = static_cast<int>(cuda::listed_devices().devices.size());
      devices.push_back({*choice.sharer % count, *choice.sharer % count});
    }
    SelectedBackend selected{cuda_factories(choice, devices)};
    if (on_cpu) selected.devices.emplace_back(open_cpu_backend);
    if (!demanded) selected.fallback = open_cpu_backend;
    return selected;
  }
#endif
  if (demanded) throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + obstacle);
#if defined(C63_HAVE_CUDA)
  note("encoding on the CPU: " + obstacle);  // a build without CUDA does not report that it has none
#endif
  return cpu_backend();
}

Encoder make_encoder(const EncoderSettings& settings, const SelectedBackend& backend,
                     const std::function<void(const std::string&)>& note) {
  Encoder encoder(settings, backend.devices);
  if (backend.fallback) encoder.set_fallback(backend.fallback, note);
  return encoder;
}

void select_decode_device(const std::string& backend, std::optional<int> device, [[maybe_unused]] std::optional<double> cpu_ms,
                          [[maybe_unused]] DecoderSettings& settings,
                          [[maybe_unused]] const std::function<void(const std::string&)>& note) {
  if (backend == "cpu" && device)
    throw Error(ErrorKind::usage, "C63-USAGE", "--device names a GPU, but --backend names the CPU");
  const bool demanded = backend == "cuda" || device;
#if defined(C63_HAVE_CUDA)
  if (backend == "cpu" || (!demanded && !cuda::has_device_files())) return;
  if (!demanded) {
    if (settings.keep_prediction || settings.keep_motion) return;  // only the CPU keeps them
    const DeviceChoice decided = choose_device(cpu_ms);
    note(decided.reason);
    if (!decided.gpu) return;
  }
  BackendChoice choice;
  if (device) choice.devices.push_back(std::to_string(*device));
  const WantedDevice wanted = show_wanted_devices(choice).front();
#else
  if (!demanded) return;
#endif
  if (const std::string obstacle = cuda_obstacle(); !obstacle.empty()) {
    if (demanded) throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + obstacle);
    note("decoding on the CPU: " + obstacle);
    return;
  }
#if defined(C63_HAVE_CUDA)
  try {
    settings.device = cuda::open_decoder({.device = wanted.index, .number = wanted.number});
  } catch (const Error& error) {
    if (demanded) throw;
    note("decoding on the CPU: " + error.message());
  }
#endif
}

PairSearch select_pair_search(const std::string& backend, std::optional<int> device, [[maybe_unused]] std::optional<double> cpu_ms,
                              const MotionSettings& settings, [[maybe_unused]] std::function<void(const std::string&)> note) {
  if (backend == "cpu" && device)
    throw Error(ErrorKind::usage, "C63-USAGE", "--device names a GPU, but --backend names the CPU");
  const bool demanded = backend == "cuda" || device;
  PairSearch cpu = cpu_pair_search(settings);
#if defined(C63_HAVE_CUDA)
  if (!demanded && (backend == "cpu" || !cuda::has_device_files())) return cpu;
  if (!demanded) {
    const DeviceChoice decided = choose_device(cpu_ms);
    if (!decided.gpu) return cpu;
    note(decided.reason);
  }
  BackendChoice choice;
  if (device) choice.devices.push_back(std::to_string(*device));
  const WantedDevice wanted = show_wanted_devices(choice).front();
  return open_pair_search([device = wanted.index, settings] { return cuda::open_pair_search(device, settings); },
                          fmt::format("cuda:{}", wanted.number), demanded ? PairSearch() : cpu, std::move(note));
#else
  if (demanded) throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + cuda_obstacle());
  return cpu;
#endif
}

std::shared_ptr<FilmDevice> open_film_device() {
#if defined(C63_HAVE_CUDA)
  return cuda::open_film_device(0);
#else
  throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + cuda_obstacle());
#endif
}

std::vector<std::string> list_devices() {
  const Machine machine = this_machine();
  std::vector<std::string> lines = {fmt::format("cpu: {}, {} logical CPUs, best SIMD level {}", machine.cpu,
                                                machine.logical_cpus, name(available_simd_levels().back()))};
  for (std::string& line : cuda_devices()) lines.push_back(std::move(line));
  if (const std::string obstacle = cuda_obstacle(); !obstacle.empty()) lines.push_back("cuda: none, " + obstacle);
  return lines;
}

bool show_only_devices(std::span<const int> devices) {
  constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";
  const char* const value = std::getenv(kVariable);
  std::vector<std::string> visible;  // the user's CUDA_VISIBLE_DEVICES
  std::istringstream list(value != nullptr ? value : "");
  for (std::string device; std::getline(list, device, ',');) visible.push_back(device);
  std::string shown;
  for (const int device : devices) {
    const auto i = static_cast<std::size_t>(device);
    if (value != nullptr && i >= visible.size()) return false;
    if (!shown.empty()) shown += ',';
    shown += value == nullptr ? std::to_string(device) : visible[i];
  }
  return setenv(kVariable, shown.c_str(), 1) == 0;
}

void ask_for_queues(int count) { setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(count).c_str(), 0); }

int queues_for(const CodingSettings& settings) { return looks_ahead(settings) ? 8 : 2; }

}  // namespace c63::tools
