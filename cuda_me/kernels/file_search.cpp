#include "cuda_me/kernels/file_search.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "c63/cuda/devices.h"
#include "c63/error.h"
#include "c63/motion_kernel.h"
#include "cuda_me/kernels/motion_common.cuh"
#include "cuda_me/runtime/launch.h"
#include "cuda_me/kernels/nvrtc.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {
namespace {

constexpr const char* kKernel = "c63_motion";
constexpr const char* kLaunch = "c63_motion_launch";

static_assert(sizeof(c63_motion_vector) == sizeof(MotionVector));
static_assert(C63_MOTION_MAX_JOBS == kBatchJobs);

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw Error(ErrorKind::input, "C63-OPEN", "cannot be read", {.file = path});
  return bytes;
}

std::string extension_of(const std::string& path) { return std::filesystem::path(path).extension().string(); }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::usage, "C63-KERNEL-FORM", why, {.file = path});
}

/// A shared library, open as long as the object exists.
struct Closer {
  void operator()(void* library) const { ::dlclose(library); }
};
using OpenLibrary = std::unique_ptr<void, Closer>;

OpenLibrary open_library(const std::string& path) {
  // For a name without a folder, dlopen() would search the library path. So it gets the absolute path.
  const std::string absolute = std::filesystem::absolute(path).string();
  OpenLibrary library(::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library != nullptr) return library;
  throw Error(ErrorKind::input, "C63-SEARCH-LOAD", std::string("cannot be loaded: ") + ::dlerror(), {.file = path});
}

class LoadedSearch final : public FileSearch {
 public:
  LoadedSearch(const std::string& path, const std::string& host_part) {
    file_.path = path;
    file_.name = std::filesystem::path(path).filename().string();
    const std::string extension = extension_of(path);
    if (extension == ".so") {
      host_ = open_library(path);
    } else {
      load_image(extension);
      if (!host_part.empty()) host_ = open_library(host_part);
    }
    if (host_) {
      launch_ =
          reinterpret_cast<int (*)(const c63_motion_batch*, const c63_motion_gpu*)>(::dlsym(host_.get(), kLaunch));
      if (launch_ == nullptr) refuse(path, std::string("has no function ") + kLaunch + "() (c63/motion_kernel.h)");
    } else {
      find_kernel();
    }
    gpu_.launch = [](const c63_motion_gpu* gpu, const char* kernel, const int grid[3], const int threads[3],
                     int shared_bytes, void** arguments) {
      return static_cast<LoadedSearch*>(gpu->state)->launch_named(kernel, grid, threads, shared_bytes, arguments);
    };
    gpu_.scratch = [](const c63_motion_gpu* gpu, unsigned long long bytes) {
      return static_cast<void*>(make_room(static_cast<LoadedSearch*>(gpu->state)->scratch_, bytes));
    };
    gpu_.state = this;
  }

  ~LoadedSearch() override {
    if (library_ != nullptr) drop_error(cudaLibraryUnload(library_));
  }

  [[nodiscard]] KernelNeeds form() const override { return first_; }

  [[nodiscard]] std::size_t local_bytes() const override {
    if (first_.kernel == nullptr) return 0;
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, first_.kernel), "cudaFuncGetAttributes");
    return attributes.localSizeBytes;
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    for (const MotionJob& job : jobs) {
      const auto blocks =
          static_cast<std::size_t>(job.width / kBlockSize) * static_cast<std::size_t>(job.height / kBlockSize);
      if (job.sads == nullptr) make_room(unwanted_, blocks);
    }
    FileBatch batch(jobs, unwanted_.data());
    gpu_.stream = stream;
    int status = 0;
    if (launch_ != nullptr) {
      status = launch_(&batch.batch, &gpu_);
    } else {
      void* arguments[] = {&batch.batch};
      status = launch_kernel(kernel_, batch.launch_shape(shape_), arguments);
    }
    check(static_cast<cudaError_t>(status), file_.name.c_str());
  }

 private:
  void load_image(const std::string& extension) {
    file_.image = bytes_of(file_.path);
    if (extension == ".cu") {
      const auto start = std::chrono::steady_clock::now();
      CompiledKernels compiled = compile_kernels({file_.image.data(), file_.image.size()}, file_.path,
                                                 require_device(current_device()).architecture);
      file_.compile_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      file_.image = std::move(compiled.image);
      file_.is_cubin = compiled.is_cubin;
      file_.compiler = compiled.compiler;
      file_.messages = compiled.messages;
    } else {
      file_.is_cubin = extension == ".cubin";
      if (!file_.is_cubin) file_.image.push_back('\0');
    }
    const cudaError_t status =
        cudaLibraryLoadData(&library_, file_.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (status != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      refuse(file_.path, std::string("the GPU's driver cannot load it: ") + cudaGetErrorString(status));
    }
  }

  void find_kernel() {
    cudaKernel_t kernel = nullptr;
    if (cudaLibraryGetKernel(&kernel, library_, kKernel) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      refuse(file_.path, std::string("has no kernel ") + kKernel +
                             ": write C63_MOTION_KERNEL void c63_motion(...) (c63/motion_kernel.h)");
    }
    kernel_ = reinterpret_cast<const void*>(kernel);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel_), "cudaFuncGetAttributes");
    shape_ = {{attributes.maxThreadsPerBlock, 1}, {1, 1}, {0, 0, 0}};
    void* place = nullptr;
    std::size_t bytes = 0;
    if (cudaLibraryGetGlobal(&place, &bytes, library_, "c63_motion_launch_shape") == cudaSuccess &&
        bytes == sizeof shape_) {
      check(cudaMemcpy(&shape_, place, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    } else {
      static_cast<void>(cudaGetLastError());
    }
    const auto positive = [](const int(&values)[2]) { return values[0] >= 1 && values[1] >= 1; };
    if (!positive(shape_.threads) || !positive(shape_.blocks))
      refuse(file_.path, "C63_MOTION_SHAPE needs at least one thread and one block");
    first_ = needs_of(kernel_, shape_, 16);
  }

  cudaError_t launch_kernel(const void* kernel, const LaunchShape& shape, void** arguments) {
    std::size_t& allowed = allowed_shared_.try_emplace(kernel, kAlwaysAllowed).first->second;
    if (shape.shared_bytes > allowed) {
      if (const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                          static_cast<int>(shape.shared_bytes));
          status != cudaSuccess) {
        return status;
      }
      allowed = shape.shared_bytes;
    }
    return cudaLaunchKernel(kernel, shape.grid, shape.block, arguments, shape.shared_bytes,
                            static_cast<cudaStream_t>(gpu_.stream));
  }

  int launch_named(const char* name, const int grid[3], const int threads[3], int shared, void** arguments) {
    const void*& kernel = named_[name];
    if (kernel == nullptr) {
      cudaKernel_t found = nullptr;
      if (library_ == nullptr || cudaLibraryGetKernel(&found, library_, name) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        refuse(file_.path, std::string("has no kernel ") + name + ", which it launches");
      }
      kernel = reinterpret_cast<const void*>(found);
    }
    const LaunchShape shape{
        {grid[0], grid[1], grid[2]}, {threads[0], threads[1], threads[2]}, static_cast<std::size_t>(shared)};
    if (first_.kernel == nullptr) first_ = {kernel, threads[0] * threads[1] * threads[2], shape.shared_bytes};
    return launch_kernel(kernel, shape, arguments);
  }

  cudaLibrary_t library_ = nullptr;
  OpenLibrary host_;
  int (*launch_)(const c63_motion_batch*, const c63_motion_gpu*) = nullptr;
  const void* kernel_ = nullptr;
  c63_motion_shape shape_{};
  c63_motion_gpu gpu_{};
  std::map<std::string, const void*> named_;
  std::map<const void*, std::size_t> allowed_shared_;
  DeviceBuffer<std::uint8_t> scratch_;
  DeviceBuffer<std::uint16_t> unwanted_;  ///< receives SADs of jobs that want none
  KernelNeeds first_;                     ///< of the kernel, or of the first that host code launched; for reports
};

}  // namespace

FileBatch::FileBatch(std::span<const MotionJob> jobs, std::uint16_t* unwanted_sads) {
  for (const MotionJob& job : jobs) {
    batch.jobs[batch.count++] = {job.current,
                                 job.reference,
                                 job.current_pitch,
                                 job.reference_pitch,
                                 job.width,
                                 job.height,
                                 job.range,
                                 reinterpret_cast<c63_motion_vector*>(job.vectors),
                                 job.sads != nullptr ? job.sads : unwanted_sads};
    columns = std::max(columns, job.width / kBlockSize);
    rows = std::max(rows, job.height / kBlockSize);
    range = std::max(range, job.range);
  }
}

LaunchShape FileBatch::launch_shape(const c63_motion_shape& shape) const {
  return {{divide_up(columns, shape.blocks[0]), divide_up(rows, shape.blocks[1]), batch.count},
          {shape.threads[0], shape.threads[1]},
          needs_of(nullptr, shape, range).shared_bytes};
}

KernelNeeds needs_of(const void* kernel, const c63_motion_shape& shape, int range) {
  const auto& bytes = shape.shared_bytes;
  return {.kernel = kernel, .threads = shape.threads[0] * shape.threads[1],
          .shared_bytes = static_cast<std::size_t>(bytes[0] + bytes[1] * range + bytes[2] * range * range)};
}

bool is_search_file(const std::string& path) {
  const std::string extension = extension_of(path);
  return extension == ".cu" || extension == ".cubin" || extension == ".ptx" || extension == ".so";
}

bool has_host_part(const std::string& path) {
  if (extension_of(path) != ".cu") return false;
  const std::vector<char> bytes = bytes_of(path);
  return std::string_view(bytes.data(), bytes.size()).find("C63_MOTION_HOST") != std::string_view::npos;
}

std::unique_ptr<FileSearch> load_search(const std::string& path, const std::string& host_part) {
  if (!is_search_file(path)) refuse(path, "a motion kernel is a .cu, .cubin, .ptx or .so file");
  static_cast<void>(bytes_of(path));  // reports an unreadable file before anything is loaded
  return std::make_unique<LoadedSearch>(path, host_part);
}

}  // namespace c63::cuda
