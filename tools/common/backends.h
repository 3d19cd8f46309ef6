#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/joining_device.h"
#include "c63/motion_search.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// The devices that the user asks for.
struct BackendChoice {
  std::vector<std::string> names = {"auto"};  ///< auto alone, or cpu and cuda
  std::vector<std::string> devices;           ///< GPUs by number, or "all"; empty: the first usable one
  // Options for a GPU. If the user sets any of these three, a GPU must be usable.
  std::optional<std::string> motion_kernel = {};  ///< empty: the fastest kernel
  std::optional<std::string> upload = {};         ///< what is uploaded for each frame: "frame" or "pair"; empty: frame
  std::optional<std::string> launch = {};         ///< how kernels are launched: "auto" or "stream"; empty: auto
  bool at_once = false;              ///< with auto: open a GPU before the encode begins, not only when it pays
  std::optional<int> sharer;         ///< number of this process among those that share the GPUs; empty: shares none
  int queues = 2;                    ///< hardware queues of a GPU (ask_for_queues())
};

/// Adds --backend, --device and the options for a GPU.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// The devices to encode on, and the one that continues if they fail during the encode.
struct SelectedBackend {
  std::vector<BackendFactory> devices;
  BackendFactory fallback = {};  ///< empty: a failed device is an error
  std::shared_ptr<JoiningDevice> joining = {};  ///< a GPU that joins if that saves time; null: none
};

/// Returns the chosen devices. With `auto` the CPU begins, and a GPU joins if that is worth it for the rest of the
/// work. If no GPU can be used, a build with CUDA calls `note` once with the reason. Throws Error (device) if the user
/// asked for a GPU that cannot be used.
[[nodiscard]] SelectedBackend select_backend(const BackendChoice& choice,
                                             const std::function<void(const std::string&)>& note);
[[nodiscard]] SelectedBackend cpu_backend();

/// Returns an encoder that uses these devices. Calls `note` with the reason if it continues on the fallback.
[[nodiscard]] Encoder make_encoder(const EncoderSettings& settings, const SelectedBackend& backend,
                                   const std::function<void(const std::string&)>& note);

/// Returns `code`, a program's exit code. If the driver of a GPU that select_backend() chose is still starting, ends
/// the process at once with `code` instead, without the work of exit(): the start takes up to 0.4 s and cannot be
/// interrupted. All files must be closed before.
[[nodiscard]] int leave_driver(int code);

/// Sets the device to decode on. With `auto` the CPU begins, and a GPU continues if that is worth it for the rest of
/// the stream. If `device` is given, that GPU decodes alone. Throws Error (device) if the user asked for a GPU that
/// cannot be used.
void select_decode_device(const std::string& backend, std::optional<int> device, DecoderSettings& settings);

/// A search for pairs of guarded planes, which all have the same size. The first call throws Error (device) if a GPU is
/// demanded and cannot be used.
struct SelectedSearch {
  PairSearch search;
  /// The GPU that goes on with what the CPU has begun; null if none can. It is started when the CPU has searched for a
  /// while, or by begin(), if the caller knows that there is much to search.
  std::shared_ptr<LateDevice<PairSearch>> joining = nullptr;
};

/// Selects where to search. `backend` is "cpu", "cuda" or "auto"; `device` demands that GPU. A GPU that is demanded starts
/// at once, while the caller goes on. "auto" begins on the CPU and goes on with a GPU, if there is one
/// (joining_search()). On the CPU, the search runs on the caller's threads. `note` gets the name of a GPU that begins to
/// search, or why "auto" cannot use it. Throws Error (usage) if the arguments contradict each other, and Error (device)
/// if this build has no GPU search and one is demanded.
[[nodiscard]] SelectedSearch select_pair_search(const std::string& backend, std::optional<int> device,
                                                const MotionSettings& settings, std::function<void(const std::string&)> note);

/// Returns one line for each device that can encode, for --list-devices. Without a usable GPU, a line says why.
[[nodiscard]] std::vector<std::string> list_devices();

}  // namespace c63::tools
