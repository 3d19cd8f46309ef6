#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/film_device.h"
#include "c63/motion_search.h"

namespace c63::python {

/// The devices to encode on.
struct Devices {
  std::vector<BackendFactory> factories;
  bool may_fall_back = false;  ///< true: the CPU continues if a device fails
};

[[nodiscard]] Encoder make_encoder(EncoderSettings settings, const Devices& devices);

/// Returns the devices in a list such as "auto", "cpu", "cuda" or "cuda,cpu". `gpus` are CUDA's indices; empty: the
/// first usable GPU. "auto" chooses by `cpu_ms`, the time that the CPU would need (c63/device_choice.h). Throws Error: usage (C63-SETTING) for other lists, or if `gpus` are given and the list has only
/// the CPU; device (C63-NO-GPU) if a GPU is demanded and none is usable.
[[nodiscard]] Devices select_devices(const std::string& names, const std::vector<int>& gpus, std::optional<double> cpu_ms);

/// Opens a GPU to decode films on. Throws Error (device, C63-NO-GPU) if it cannot be used.
[[nodiscard]] std::shared_ptr<FilmDevice> open_film_device(int device);

/// Returns a search for pairs of guarded planes of one size: on the CPU, or on a GPU, which starts while the caller goes on.
/// `backend` is "cpu", "cuda" or "auto", which `cpu_ms` decides; `device` demands that GPU. If a GPU that "auto" chose
/// fails, the CPU searches. Throws Error like select_devices(), and usage for wrong settings.
[[nodiscard]] PairSearch select_pair_search(const std::string& backend, std::optional<int> device, std::optional<double> cpu_ms,
                                            const MotionSettings& settings);

/// Returns the reason why no GPU can be used, as far as that is known without opening one. Empty if a GPU may be
/// usable.
[[nodiscard]] std::string gpu_obstacle();
/// Throws the error for an array on a GPU in a build that has no GPU.
[[noreturn]] void refuse_device();

}  // namespace c63::python
