#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace c63::cuda {

/// The result of compiling CUDA C++ source text.
struct CompiledKernels {
  std::vector<char> image = {};  ///< a cubin, or PTX if NVRTC is older than the device
  bool is_cubin = false;
  std::string messages = {};  ///< warnings, with line numbers of the text
  std::string compiler = {};  ///< "NVRTC 13.0"
};

/// Compiles CUDA C++ for architecture `sm` (90 for sm_90). `name` is the file's name: it appears in messages, and its
/// folder is searched for headers. c63/motion_kernel.h, <cstdint>, <stdint.h> and <cuda_runtime.h> are built in; the
/// CUDA toolkit is searched, too. Loads NVRTC at the first call. Throws Error: usage (C63-KERNEL-COMPILE) with the
/// compiler's messages, device (C63-NO-NVRTC).
[[nodiscard]] CompiledKernels compile_kernels(std::string_view text, const std::string& name, int sm);

/// Compiles the text to PTX, to look at its instructions.
[[nodiscard]] std::string compile_ptx(std::string_view text, const std::string& name, int sm);

/// The text of c63/motion_kernel.h.
[[nodiscard]] std::string_view motion_kernel_header();

}  // namespace c63::cuda
