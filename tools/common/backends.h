#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "c63/encoder.h"

namespace c63::tools {

/// What the user asks to encode on.
struct BackendChoice {
  std::string name = "auto";  ///< auto, cpu, cuda
  std::vector<int> devices;   ///< GPUs by number; empty: the first that can be used
};

/// Adds --backend and --device.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// The factory of the chosen backend; an empty one stands for the CPU. `auto` falls back to the CPU and says why, in
/// one call of `note`. Throws Error (device) where a GPU is demanded and cannot be used.
[[nodiscard]] BackendFactory select_backend(const BackendChoice& choice,
                                            const std::function<void(const std::string&)>& note);

/// An encoder on the backend that `factory` opens; on the CPU for an empty one.
[[nodiscard]] Encoder make_encoder(const EncoderSettings& settings, const BackendFactory& factory);

/// One line per device that can be encoded on, for --list-devices; also why there is no GPU, where there is none.
[[nodiscard]] std::vector<std::string> list_devices();

}  // namespace c63::tools
