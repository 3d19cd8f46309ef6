#include "cuda_me/kernels/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "c63/error.h"

namespace c63::kernel_header_files {
extern const std::string_view header;
}  // namespace c63::kernel_header_files

namespace c63::cuda {
namespace {

void* open_nvrtc() {
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  throw Error(
      ErrorKind::device, "C63-NO-NVRTC",
      "a .cu file needs NVRTC to be compiled: libnvrtc.so.13 or libnvrtc.so.12 of the CUDA toolkit (Debian: "
      "libnvrtc12, NVIDIA: cuda-nvrtc-13-0), on the library path. A .cubin or .ptx needs none");
}

/// The functions of NVRTC that are used. Names and types are those of nvrtc.h, which is not needed to build c63.
class Nvrtc {
 private:
  /// A function of the library. It becomes a pointer of the type of the member that it initializes.
  struct Symbol {
    template <typename Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
    void* address;
  };
  [[nodiscard]] Symbol find(const char* name) const {
    void* const address = ::dlsym(library_, name);
    if (address == nullptr) throw Error(ErrorKind::device, "C63-NO-NVRTC", std::string("libnvrtc lacks ") + name);
    return {address};
  }
  void* library_ = open_nvrtc();

 public:
  using Program = void*;
  using Result = int;

  static const Nvrtc& get() {
    static const Nvrtc library;
    return library;
  }

  Result (*version)(int*, int*) = find("nvrtcVersion");
  Result (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                   const char* const* names) = find("nvrtcCreateProgram");
  Result (*destroy)(Program*) = find("nvrtcDestroyProgram");
  Result (*compile)(Program, int, const char* const* options) = find("nvrtcCompileProgram");
  Result (*log_size)(Program, std::size_t*) = find("nvrtcGetProgramLogSize");
  Result (*log)(Program, char*) = find("nvrtcGetProgramLog");
  Result (*cubin_size)(Program, std::size_t*) = find("nvrtcGetCUBINSize");
  Result (*cubin)(Program, char*) = find("nvrtcGetCUBIN");
  Result (*ptx_size)(Program, std::size_t*) = find("nvrtcGetPTXSize");
  Result (*ptx)(Program, char*) = find("nvrtcGetPTX");
  Result (*arch_count)(int*) = find("nvrtcGetNumSupportedArchs");
  Result (*archs)(int*) = find("nvrtcGetSupportedArchs");
};

constexpr const char* kIntegers = R"(#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;
typedef long intptr_t; typedef unsigned long uintptr_t;
#define INT32_MAX 2147483647
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
namespace std { using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t; using ::int32_t; using ::uint32_t;
using ::int64_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t; }
)";
/// The content of headers whose declarations are built into NVRTC.
constexpr const char* kNothing = "#pragma once\n";

/// Returns what a pair of NVRTC's functions gives: the first one says how many bytes, the second one copies them.
std::vector<char> bytes_of(Nvrtc::Program program, Nvrtc::Result (*size_of)(Nvrtc::Program, std::size_t*),
                           Nvrtc::Result (*copy)(Nvrtc::Program, char*)) {
  std::size_t size = 0;
  size_of(program, &size);
  std::vector<char> bytes(size);
  if (size > 0) copy(program, bytes.data());
  return bytes;
}

/// Compiles for an architecture, to a cubin or to PTX.
CompiledKernels compile_for(std::string_view text, const std::string& name, int architecture, bool cubin) {
  const Nvrtc& nvrtc = Nvrtc::get();
  const std::string source(text);
  const std::string header(motion_kernel_header());
  const std::array<const char*, 7> names = {
      "c63/motion_kernel.h", "motion_kernel.h",           "stdint.h", "cstdint", "inttypes.h",
      "cuda_runtime.h",      "device_launch_parameters.h"};
  const std::array<const char*, 7> texts = {header.c_str(), header.c_str(), kIntegers, kIntegers,
                                            kIntegers,      kNothing,       kNothing};
  Nvrtc::Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), name.c_str(), static_cast<int>(names.size()), texts.data(),
                   names.data()) != 0) {
    throw Error(ErrorKind::device, "C63-NO-NVRTC", "NVRTC cannot create a program");
  }
  std::vector<std::string> options = {
      "--gpu-architecture=" + std::string(cubin ? "sm_" : "compute_") + std::to_string(architecture), "--std=c++17",
      "-lineinfo"};
  const std::string folder = std::filesystem::path(name).parent_path().string();
  options.push_back("--include-path=" + (folder.empty() ? std::string(".") : folder));
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string toolkit : {home != nullptr ? home : "", "/usr/local/cuda"}) {
    if (!toolkit.empty() && std::filesystem::exists(toolkit + "/include"))
      options.push_back("--include-path=" + toolkit + "/include");
  }
  std::vector<const char*> pointers;
  for (const std::string& o : options) pointers.push_back(o.c_str());
  const int status = nvrtc.compile(program, static_cast<int>(pointers.size()), pointers.data());
  CompiledKernels compiled{.is_cubin = cubin};
  const std::vector<char> log = bytes_of(program, nvrtc.log_size, nvrtc.log);
  compiled.messages.assign(log.begin(), std::ranges::find(log, '\0'));
  while (compiled.messages.ends_with('\n')) compiled.messages.pop_back();
  if (status == 0) {
    compiled.image =
        cubin ? bytes_of(program, nvrtc.cubin_size, nvrtc.cubin) : bytes_of(program, nvrtc.ptx_size, nvrtc.ptx);
  }
  nvrtc.destroy(&program);
  if (status != 0) {
    throw Error(ErrorKind::usage, "C63-KERNEL-COMPILE", "it does not compile:\n" + compiled.messages + "\n",
                {.file = name});
  }
  return compiled;
}

/// Returns the newest architecture that NVRTC knows and whose code the device can run; 0 if there is none.
int known_architecture(int sm) {
  int count = 0;
  Nvrtc::get().arch_count(&count);
  std::vector<int> archs(static_cast<std::size_t>(count));
  if (count > 0) Nvrtc::get().archs(archs.data());
  int best = 0;
  for (const int arch : archs) {
    if (arch <= sm && arch > best) best = arch;
  }
  return best;
}

}  // namespace

std::string_view motion_kernel_header() { return kernel_header_files::header; }

CompiledKernels compile_kernels(std::string_view text, const std::string& name, int sm) {
  int major = 0;
  int minor = 0;
  Nvrtc::get().version(&major, &minor);
  const std::string compiler = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  const int known = known_architecture(sm);
  if (known == 0) {
    throw Error(ErrorKind::device, "C63-NO-NVRTC", compiler + " cannot compile for this GPU, sm_" + std::to_string(sm));
  }
  CompiledKernels compiled = compile_for(text, name, known, known == sm);
  compiled.compiler = compiler;
  return compiled;
}

std::string compile_ptx(std::string_view text, const std::string& name, int sm) {
  const std::vector<char> ptx = compile_for(text, name, known_architecture(sm), false).image;
  return {ptx.begin(), std::ranges::find(ptx, '\0')};
}

}  // namespace c63::cuda
