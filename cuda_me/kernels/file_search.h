#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c63/motion_kernel.h"
#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {

/// Jobs as c63/motion_kernel.h passes them to a kernel, and the largest sizes among them.
struct FileBatch {
  /// The kernel writes the SADs of jobs that want none to `unwanted_sads`.
  explicit FileBatch(std::span<const MotionJob> jobs, std::uint16_t* unwanted_sads = nullptr);
  [[nodiscard]] LaunchShape launch_shape(const c63_motion_shape& shape) const;

  c63_motion_batch batch{};
  int columns = 0;  ///< of blocks
  int rows = 0;
  int range = 0;
};

/// What a kernel of this shape needs for a search range.
[[nodiscard]] KernelNeeds needs_of(const void* kernel, const c63_motion_shape& shape, int range);

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
