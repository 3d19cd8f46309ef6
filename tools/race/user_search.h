#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "c63/user_search.h"

namespace c63::race {

/// How names of files with a search for the CPU end, and of those for the GPU.
inline constexpr std::array<std::string_view, 5> kHostSearchFiles = {".c", ".cpp", ".cc", ".cxx", ".so"};
inline constexpr std::array<std::string_view, 4> kGpuSearchFiles = {".cu", ".cubin", ".ptx", ".so"};

/// Compiles and loads a file for the CPU. Each GOP chain gets its own copy of the library, so static variables of the file belong to
/// one chain. Throws Error as compile_search() and SearchLibrary do.
[[nodiscard]] std::shared_ptr<const UserSearch> own_host_search(const std::string& path);

/// Reads a file for the GPU, and compiles its host part. The GPU's backend compiles the kernels. Throws Error as
/// compile_host_part() does.
[[nodiscard]] std::shared_ptr<const UserSearch> own_gpu_search(const std::string& path);

}  // namespace c63::race
