#pragma once

#include <functional>
#include <string>

struct c63_motion_job;

namespace c63 {

/// A motion search in the form of c63/motion_kernel.h. It takes the place of the encoder's own search. The bytes of a
/// stream depend on it.
///
/// It gives one vector for each block. Everything else stays as the preset has it. A preset that tries several of the
/// search's best vectors tries this one vector instead. It still tries the vectors of neighbours. Each vector is
/// checked. If a vector is neither a candidate nor zero, the encode ends with Error (usage, C63-SEARCH-VECTOR), which
/// names frame, plane and block.
struct UserSearch {
  /// Searches one plane. One thread at a time calls it.
  using Function = std::function<void(const c63_motion_job&)>;

  std::string name;    ///< of its file, for reports and errors
  std::string digest;  ///< SHA-256 of its file, for reports
  /// Makes the function of one GOP chain on the CPU. Chains work at the same time. Empty: only a GPU can search with it.
  std::function<Function()> open = {};
  std::string kernel = {};            ///< the file of a GPU's search: .cu, .cubin, .ptx or .so; empty: only the CPU can search with it
  std::string kernel_host_part = {};  ///< a .so with the host part of `kernel`; empty: it has none
};

}  // namespace c63
