#pragma once

#include <functional>
#include <string>
#include <vector>

#include "c63/encoder.h"

namespace c63::python {

/// What to encode on, and what to go on with if that fails on the way.
struct Devices {
  std::vector<BackendFactory> factories;
  BackendFactory fallback = {};  ///< empty: a failure is an error
};

/// The devices of a list such as "auto", "cpu", "cuda" or "cuda,cpu"; `gpus` are CUDA's indices, empty for the first that can
/// be used. Throws Error: usage (C63-SETTING) for other lists, device (C63-NO-GPU) where a GPU is demanded and there is none.
[[nodiscard]] Devices select_devices(const std::string& names, const std::vector<int>& gpus);

/// Why no GPU can be used, as far as that is known before one is opened; empty where one may be.
[[nodiscard]] std::string gpu_obstacle();

}  // namespace c63::python
