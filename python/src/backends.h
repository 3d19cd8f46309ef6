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
  std::shared_ptr<JoiningDevice> joining = {};  ///< null: none
};

/// Returns an encoder on these devices.
[[nodiscard]] Encoder make_encoder(EncoderSettings settings, const Devices& devices);

/// Returns the devices of a list such as "auto", "cpu", "cuda" or "cuda,cpu". `gpus` are CUDA's indices, empty for the
/// first usable one. Throws Error: usage (C63-SETTING) for other lists, device (C63-NO-GPU) if a GPU is demanded and
/// there is none.
[[nodiscard]] Devices select_devices(const std::string& names, const std::vector<int>& gpus);

/// Waits until no driver is being started, because a process must not end meanwhile.
void wait_for_driver();

/// Says why no GPU can be used, if that is known before one is opened. Empty if one may be usable.
[[nodiscard]] std::string gpu_obstacle();

}  // namespace c63::python
