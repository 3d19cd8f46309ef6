#include "backends.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "backend/backend.h"
#include "c63/device_choice.h"
#include "c63/error.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/backend.h"
#include "c63/cuda/devices.h"
#include "c63/cuda/film_device.h"
#include "c63/cuda/motion_estimator.h"
#endif

// Every backend that the Python package can use is named in this file and nowhere else in python/.

namespace c63::python {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  return names;
}

std::vector<BackendFactory> cuda_factories([[maybe_unused]] const std::vector<int>& gpus) {
#if defined(C63_HAVE_CUDA)
  cuda::CudaBackendOptions options;
  options.devices = gpus;
  return cuda::make_backend_factories(options);
#else
  return {};
#endif
}

}  // namespace

std::string gpu_obstacle() {
#if defined(C63_HAVE_CUDA)
  const cuda::DeviceList& list = cuda::listed_devices();
  return list.state == cuda::DeviceState::usable ? "" : list.reason;
#else
  return "this c63 was built without CUDA";
#endif
}

void refuse_device() {
  throw Error(ErrorKind::device, "C63-NO-GPU", "the array is in GPU memory, but no GPU can be used: " + gpu_obstacle());
}

Encoder make_encoder(EncoderSettings settings, const Devices& devices) {
  Encoder encoder(std::move(settings), devices.factories);
  if (devices.may_fall_back) encoder.set_fallback(open_cpu_backend, nullptr);
  return encoder;
}

Devices select_devices(const std::string& names, const std::vector<int>& gpus, [[maybe_unused]] std::optional<double> cpu_ms) {
  const std::vector<std::string> all = split(names);
  const auto count = [&](const char* name) { return std::ranges::count(all, name); };
  const bool automatic = all.size() == 1 && count("auto") == 1;
  if (all.empty() || (!automatic && count("cpu") + count("cuda") != std::ssize(all)) || count("cpu") > 1 || count("cuda") > 1) {
    throw Error(ErrorKind::usage, "C63-SETTING", "backend: wanted auto, cpu, cuda or cuda,cpu, got '" + names + "'");
  }
  const bool on_cpu = count("cpu") > 0;
  const bool demanded = count("cuda") > 0 || !gpus.empty();
#if defined(C63_HAVE_CUDA)
  if (automatic && !demanded && cuda::has_device_files() && choose_device(cpu_ms).gpu && gpu_obstacle().empty()) {
    return {cuda_factories({}), true};
  }
#endif
  if (!automatic && count("cuda") == 0) {
    if (!gpus.empty()) throw Error(ErrorKind::usage, "C63-SETTING", "device names GPUs, but backend names the CPU");
    return {{open_cpu_backend}};
  }
  if (!demanded) return {{open_cpu_backend}};
  if (const std::string obstacle = gpu_obstacle(); !obstacle.empty()) {
    throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + obstacle);
  }
  Devices devices{cuda_factories(gpus)};
  if (on_cpu) devices.factories.emplace_back(open_cpu_backend);
  return devices;
}

std::shared_ptr<FilmDevice> open_film_device([[maybe_unused]] int device) {
  if (!gpu_obstacle().empty()) throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + gpu_obstacle());
#if defined(C63_HAVE_CUDA)
  return cuda::open_film_device(device);
#else
  return nullptr;
#endif
}

PairSearch select_pair_search(const std::string& backend, std::optional<int> device, [[maybe_unused]] std::optional<double> cpu_ms,
                              const MotionSettings& settings) {
  if (backend != "auto" && backend != "cpu" && backend != "cuda")
    throw Error(ErrorKind::usage, "C63-SETTING", "backend: wanted auto, cpu or cuda, got '" + backend + "'");
  if (backend == "cpu" && device) throw Error(ErrorKind::usage, "C63-SETTING", "device names a GPU, but backend names the CPU");
  PairSearch cpu = cpu_pair_search(settings);
  const bool demanded = backend == "cuda" || device;
  if (demanded && !gpu_obstacle().empty())
    throw Error(ErrorKind::device, "C63-NO-GPU", "no GPU can be used: " + gpu_obstacle());
#if defined(C63_HAVE_CUDA)
  const auto is_worth_it = [&] { return cuda::has_device_files() && choose_device(cpu_ms).gpu && gpu_obstacle().empty(); };
  if (demanded || (backend == "auto" && is_worth_it())) {
    return open_pair_search([gpu = device.value_or(0), settings] { return cuda::open_pair_search(gpu, settings); }, "",
                            demanded ? PairSearch() : cpu, [](const std::string&) {});
  }
#endif
  return cpu;
}

}  // namespace c63::python
