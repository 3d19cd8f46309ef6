#include "race/emulated_gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "c63/error.h"
#include "race/emulated_device.h"

namespace c63::race {

class EmulatedGpu::Device : public EmulatedDevice {
 public:
  Device(const std::string& path, const std::string& library, const std::string& host_part, std::uint32_t seed)
      : EmulatedDevice(path, library, seed), path_(path) {
    if (!host_part.empty()) {
      host_ = open_library(host_part, path);
      launch_ = reinterpret_cast<decltype(launch_)>(::dlsym(host_, "c63_motion_launch"));
      if (launch_ == nullptr) refuse("has no function c63_motion_launch() (c63/motion_kernel.h)");
    } else {
      static_cast<void>(kernel_named("c63_motion"));
    }
    gpu_.state = this;
    gpu_.launch = [](const c63_motion_gpu* gpu, const char* kernel, const int* grid, const int* block, int shared, void** arguments) {
      return static_cast<Device*>(gpu->state)->launch(kernel, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, arguments);
    };
    gpu_.scratch = [](const c63_motion_gpu* gpu, unsigned long long bytes) {
      return static_cast<void*>(static_cast<Device*>(gpu->state)->allocate(bytes, "the scratch memory"));
    };
  }
  ~Device() {
    if (host_ != nullptr) ::dlclose(host_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::vector<SearchedCase> search(std::span<const RaceCase> cases, const CaseLayout& layout) {
    change_order();
    memory().device().free_all();
    c63_motion_batch batch{};
    int columns = 0;
    int rows = 0;
    int range = 0;
    for (const RaceCase& c : cases) {
      const auto place = [&](const std::vector<std::uint8_t>& bytes, const char* name, bool is_plane) {
        std::uint8_t* const at = memory().device().allocate(bytes.size(), name, is_plane);
        if (at == nullptr) throw Error(ErrorKind::memory, "C63-MEMORY", "no memory left on the emulated GPU");
        std::ranges::copy(bytes, at);
        return at;
      };
      const std::vector<std::uint8_t> poison(2 * c.blocks(), layout.poison);
      batch.jobs[batch.count++] = {.current = place(c.current, "the current plane", true),
                                     .reference = place(c.reference, "the reference plane", true),
                                     .current_pitch = c.current_pitch,
                                     .reference_pitch = c.reference_pitch,
                                     .width = c.width,
                                     .height = c.height,
                                     .range = c.range,
                                     .vectors = reinterpret_cast<c63_motion_vector*>(place(poison, "the vectors", false)),
                                     .sads = reinterpret_cast<unsigned short*>(place(poison, "the SADs", false))};
      columns = std::max(columns, c.width / 8);
      rows = std::max(rows, c.height / 8);
      range = std::max(range, c.range);
    }
    int status = 0;
    if (launch_ != nullptr) {
      status = launch_(&batch, &gpu_);
    } else {
      const auto* const given = static_cast<const c63_motion_shape*>(symbol("c63_motion_launch_shape"));
      const int most = *static_cast<const int*>(symbol("c63_threads_c63_motion"));
      const c63_motion_shape shape = given != nullptr ? *given : c63_motion_shape{{most, 1}, {1, 1}, {0, 0, 0}};
      if (shape.blocks[0] < 1 || shape.blocks[1] < 1) refuse("C63_MOTION_SHAPE needs at least one thread and one block");
      void* arguments[] = {&batch};
      status = launch("c63_motion",
                      {(columns + shape.blocks[0] - 1) / shape.blocks[0], (rows + shape.blocks[1] - 1) / shape.blocks[1], batch.count},
                      {shape.threads[0], shape.threads[1], 1},
                      shape.shared_bytes[0] + shape.shared_bytes[1] * range + shape.shared_bytes[2] * range * range, arguments);
    }
    if (status != 0 && faults().all().empty()) {
      faults().add("launch-failed", 0, fmt::format("the launch fails with CUDA's error {}: its shape, or its memory", status));
    }
    std::vector<SearchedCase> found;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::size_t blocks = cases[i].blocks();
      SearchResults& results = found.emplace_back().results;
      const auto* const vectors = reinterpret_cast<const MotionVector*>(batch.jobs[i].vectors);
      results.vectors.assign(vectors, vectors + blocks);
      results.sads.assign(batch.jobs[i].sads, batch.jobs[i].sads + blocks);
    }
    return found;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw Error(ErrorKind::usage, "C63-KERNEL-FORM", why, {.file = path_}); }

  [[nodiscard]] void (*kernel_named(const std::string& name) const)(void**) {
    const auto kernel = reinterpret_cast<void (*)(void**)>(symbol("c63_emulated_" + name));
    if (kernel == nullptr) refuse("has no kernel " + name + ": write C63_MOTION_KERNEL void " + name + "(...) (c63/motion_kernel.h)");
    return kernel;
  }

  int launch(const std::string& name, const std::array<int, 3>& grid, const std::array<int, 3>& block, int shared, void** arguments) {
    const auto kernel = kernel_named(name);
    return EmulatedDevice::launch([=] { kernel(arguments); }, grid, block, shared);
  }

  std::string path_;
  void* host_ = nullptr;
  int (*launch_)(const c63_motion_batch*, const c63_motion_gpu*) = nullptr;
  c63_motion_gpu gpu_{};
};

EmulatedGpu::EmulatedGpu(const std::string& path, const std::string& library, const std::string& host_part, std::uint32_t seed)
    : device_(std::make_unique<Device>(path, library, host_part, seed)) {}
EmulatedGpu::~EmulatedGpu() = default;
std::vector<SearchedCase> EmulatedGpu::search(std::span<const RaceCase> cases, const CaseLayout& layout) { return device_->search(cases, layout); }
std::vector<MotionSuspicion> EmulatedGpu::faults() const { return device_->told(true); }
std::vector<MotionSuspicion> EmulatedGpu::doubts() const { return device_->told(false); }
void EmulatedGpu::start_counting() { device_->memory().start_counting(); }
std::vector<LineCounts> EmulatedGpu::counts() const { return device_->counts(); }

}  // namespace c63::race
