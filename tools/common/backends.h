#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/decoder.h"
#include "c63/encoder.h"
#include "c63/film_device.h"
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
};

/// Returns true if `auto` chooses between the CPU and a GPU by the length of the work (c63/device_choice.h).
[[nodiscard]] bool decides_by_length(const BackendChoice& choice);

/// Returns the chosen devices. `cpu_ms` is the time that the CPU would need; it matters only if decides_by_length(). `note`
/// gets one line that says what `auto` chose and why. Throws Error (device) if the user asked for a GPU that cannot be
/// used.
[[nodiscard]] SelectedBackend select_backend(const BackendChoice& choice, std::optional<double> cpu_ms,
                                             const std::function<void(const std::string&)>& note);
[[nodiscard]] SelectedBackend cpu_backend();

/// Returns an encoder that uses these devices. Calls `note` with the reason if it continues on the fallback.
[[nodiscard]] Encoder make_encoder(const EncoderSettings& settings, const SelectedBackend& backend,
                                   const std::function<void(const std::string&)>& note);

/// Sets the device to decode on. With `auto`, `cpu_ms` decides: the time that the CPU would need. If `device` is given,
/// that GPU decodes. `note` gets one line that says what `auto` chose and why. Throws Error (device) if the user asked for
/// a GPU that cannot be used.
void select_decode_device(const std::string& backend, std::optional<int> device, std::optional<double> cpu_ms,
                          DecoderSettings& settings, const std::function<void(const std::string&)>& note);

/// Returns a search for pairs of guarded planes, which all have the same size. `backend` is "cpu", "cuda" or "auto", which
/// `cpu_ms` decides; `device` demands that GPU. On the CPU, the search runs on the caller's threads. A GPU starts at once,
/// while the caller goes on; the first search waits for it. If a GPU that "auto" chose cannot be used, the CPU searches.
/// `note` gets one line if a GPU searches, or if one that was chosen cannot. Throws Error (usage) if the arguments contradict each
/// other, and Error (device) if this build has no GPU search and one is demanded. The first search throws Error (device)
/// if a GPU is demanded and cannot be used.
[[nodiscard]] PairSearch select_pair_search(const std::string& backend, std::optional<int> device, std::optional<double> cpu_ms,
                                            const MotionSettings& settings, std::function<void(const std::string&)> note);

/// Opens the GPU on which films are decoded (SourceOptions::device): the first one that is visible. So call it after a
/// device was selected. Throws Error (device) if it cannot be used.
[[nodiscard]] std::shared_ptr<FilmDevice> open_film_device();

/// Returns one line for each device that can encode, for --list-devices. Without a usable GPU, a line says why.
[[nodiscard]] std::vector<std::string> list_devices();

// Sets environment variables that the CUDA driver reads when a process first uses it. Only programs call these
// functions, never the library, and before any call of CUDA.

/// Hides all GPUs except `devices` from CUDA, which then numbers them from 0. It saves time: the driver opens every
/// visible GPU, which takes 0.1 to 0.2 s each. `devices` are numbers among the GPUs visible so far, without duplicates.
/// Returns false and hides nothing if the user's CUDA_VISIBLE_DEVICES lists fewer GPUs. Other missing GPUs are not noticed.
[[nodiscard]] bool show_only_devices(std::span<const int> devices);

/// Makes the driver open GPUs with `count` hardware queues instead of eight, because each queue takes up to 60 ms to
/// open and close (docs/notes/gpu-host.md). Encoding needs two, so that one batch is transformed while another is
/// entropy-coded. One is better for a short encode. If the user has set the number in the environment, that number
/// stays.
void ask_for_queues(int count);

/// Returns the number of queues that suits these settings for a long encode: eight for presets that look ahead, because each
/// lane then has a CUDA stream for looking ahead; otherwise two.
[[nodiscard]] int queues_for(const CodingSettings& settings);

}  // namespace c63::tools
