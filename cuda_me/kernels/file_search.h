#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda_me/kernels/motion.h"

namespace c63::cuda {

/// Facts about a search from a file, for reports.
struct SearchFile {
  std::string name;  ///< the file's name without folders
  std::string path;
  std::string compiler;     ///< "NVRTC 13.0"; empty for a file that needs none
  std::string messages;     ///< the compiler's warnings
  double compile_s = 0;     ///< seconds that compiling took
  std::vector<char> image;  ///< cubin or PTX; empty for .so
  bool is_cubin = false;
};

/// A search from a file, for the current device. c63/motion_kernel.h says what the file contains.
class FileSearch : public MotionSearch {
 public:
  [[nodiscard]] const SearchFile& file() const { return file_; }
  /// Local memory per thread of the search's kernel, in bytes: the stack, and values that do not fit in registers. 0 if
  /// host code launches the kernels and has launched none yet.
  [[nodiscard]] virtual std::size_t local_bytes() const = 0;

 protected:
  SearchFile file_;
};

/// Loads a .cu (compiled by NVRTC), .cubin, .ptx or .so file. Code in a .so, and host code in a .cu, runs in this
/// process. `host_part` is a .so that contains the host code of a .cu; empty if the .cu has none. Throws Error: input
/// (the file cannot be read), usage (it does not compile, or has no entry), device (NVRTC or a device is missing).
[[nodiscard]] std::unique_ptr<FileSearch> load_search(const std::string& path, const std::string& host_part = {});

/// Returns true if the file name has an extension that load_search() accepts.
[[nodiscard]] bool is_search_file(const std::string& path);

/// Returns true for a .cu file that contains the word C63_MOTION_HOST, which marks host code. NVRTC cannot compile host
/// code, so it must be compiled to a .so first.
[[nodiscard]] bool has_host_part(const std::string& path);

}  // namespace c63::cuda
