#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// What the user asks to encode on.
struct BackendChoice {
  std::vector<std::string> names = {"auto"};  ///< auto alone, or cpu and cuda
  std::vector<std::string> devices;  ///< GPUs by number, or "all"; empty: the first that can be used
  std::string motion_kernel = "";    ///< of the GPU; empty: its fastest
  std::string entropy = "gpu";       ///< gpu, cpu: who codes the GPU's frames
  std::string upload = "frame";      ///< frame, pair: what goes to the GPU for each frame
  std::string launch = "auto";       ///< auto, stream: how work gets to the GPU
  std::optional<int> sharer;         ///< this process's number among those that take the machine's GPUs in turn
  int queues = 2;                    ///< hardware queues of a GPU (ask_for_queues())
};

/// Adds --backend, --device and what is said of a GPU.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// What to encode on, and what to go on with if that fails on the way.
struct SelectedBackend {
  std::vector<BackendFactory> devices;
  BackendFactory fallback = {};  ///< empty: a failure is an error
};

/// The chosen devices. `auto` takes the CPU where no GPU can be used and, in a build
/// with CUDA, says why in one call of `note`.
/// Throws Error (device) where a GPU is demanded and cannot be used.
[[nodiscard]] SelectedBackend select_backend(const BackendChoice& choice,
                                             const std::function<void(const std::string&)>& note);
[[nodiscard]] SelectedBackend cpu_backend();

/// An encoder on the backend; `note` is told the reason if it has to fall back.
[[nodiscard]] Encoder make_encoder(const EncoderSettings& settings, const SelectedBackend& backend,
                                   const std::function<void(const std::string&)>& note);

/// What to decode on: null for the CPU, as with `auto` unless `device` names a GPU, for opening one takes longer than most
/// streams. Throws Error (device) where a GPU is demanded and cannot be used.
[[nodiscard]] std::shared_ptr<DecodeBackend> select_decode_device(const std::string& backend, std::optional<int> device);

/// One line per device that can be encoded on, for --list-devices; also why there is no GPU, where there is none.
[[nodiscard]] std::vector<std::string> list_devices();

}  // namespace c63::tools
