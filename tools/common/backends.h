#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/joining_device.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The devices that the user asks for.
struct BackendChoice {
  std::vector<std::string> names = {"auto"};  ///< auto alone, or cpu and cuda
  std::vector<std::string> devices;           ///< GPUs by number, or "all"; empty: the first usable one
  // Options for a GPU. With any of them, a GPU must be usable.
  std::optional<std::string> motion_kernel = {};  ///< empty: the fastest
  std::optional<std::string> upload = {};         ///< frame or pair: what goes to the GPU for each frame; empty: frame
  std::optional<std::string> launch = {};         ///< auto or stream: how kernels are launched; empty: auto
  bool at_once = false;              ///< auto opens a GPU before the encode begins, instead of when it is worth it
  std::optional<int> sharer;         ///< this process's number among those that share the machine's GPUs
  int queues = 2;                    ///< hardware queues of a GPU (ask_for_queues())
};

/// Adds --backend, --device and the options for a GPU.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// The devices to encode on, and the fallback if they fail on the way.
struct SelectedBackend {
  std::vector<BackendFactory> devices;
  BackendFactory fallback = {};  ///< empty: a failure is an error
  std::shared_ptr<JoiningDevice> joining = {};  ///< a GPU that joins when that is worth it; null: none
};

/// Returns the chosen devices. With `auto` the CPU begins, and a GPU joins when that is worth it for the rest of the
/// work. If no GPU can be used, a build with CUDA gives the reason in one call of `note`. Throws Error (device) if a
/// GPU is demanded and cannot be used.
[[nodiscard]] SelectedBackend select_backend(const BackendChoice& choice,
                                             const std::function<void(const std::string&)>& note);
[[nodiscard]] SelectedBackend cpu_backend();

/// Returns an encoder on the backend. Calls `note` with the reason if it has to fall back.
[[nodiscard]] Encoder make_encoder(const EncoderSettings& settings, const SelectedBackend& backend,
                                   const std::function<void(const std::string&)>& note);

/// Returns `code`, a program's exit code. Ends the process with it at once, without calling what exit() calls, if a GPU's driver
/// is still being started for select_backend(): that takes up to 0.4 s and cannot be interrupted. All files must be closed.
[[nodiscard]] int leave_driver(int code);

/// Sets the device to decode on. With `auto` the CPU begins, and a GPU takes over if that is worth it for the rest of
/// the stream. `device` names a GPU that decodes alone. Throws Error (device) if a GPU is demanded and cannot be used.
void select_decode_device(const std::string& backend, std::optional<int> device, DecoderSettings& settings);

/// Returns one line for each device that can encode, for --list-devices. Without a usable GPU, a line says why.
[[nodiscard]] std::vector<std::string> list_devices();

}  // namespace c63::tools
