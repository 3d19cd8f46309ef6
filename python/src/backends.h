#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/joining_device.h"

namespace c63::python {

/// The devices to encode on.
struct Devices {
  std::vector<BackendFactory> factories;
  std::shared_ptr<JoiningDevice> joining = {};  ///< a GPU that joins if that saves time; null: none
};

[[nodiscard]] Encoder make_encoder(EncoderSettings settings, const Devices& devices);

/// Returns the devices in a list such as "auto", "cpu", "cuda" or "cuda,cpu". `gpus` are CUDA's indices; empty: the
/// first usable GPU. Throws Error: usage (C63-SETTING) for other lists, or if `gpus` are given and the list has only
/// the CPU; device (C63-NO-GPU) if a GPU is demanded and none is usable.
[[nodiscard]] Devices select_devices(const std::string& names, const std::vector<int>& gpus);

/// Waits until no GPU driver is being started. The process must not end while a driver is being started.
void wait_for_driver();

/// Returns the reason why no GPU can be used, as far as that is known without opening one. Empty if a GPU may be
/// usable.
[[nodiscard]] std::string gpu_obstacle();

}  // namespace c63::python
