#pragma once

#include <functional>
#include <optional>
#include <string>

#include "c63/picture.h"

namespace c63::tools {

/// The name of the JSON file beside a stream. `c63enc --sidecar` and `c63enc --segment` write it.
[[nodiscard]] std::string sidecar_path(const std::string& stream);

/// Throws Error (usage) if `wanted`, and `stream` is no file that another one can lie beside: a pipe, a device.
void check_sidecar(bool wanted, const std::string& stream);

/// A frame rate, and the file that has it.
struct SidecarRate {
  FrameRate rate;
  std::string path;
};

/// Returns the frame rate that the file beside `stream` gives; nullopt if there is no such file, or if it gives none.
/// `warn` receives one line if the file belongs to another stream or cannot be understood; it may be empty.
[[nodiscard]] std::optional<SidecarRate> sidecar_rate(const std::string& stream,
                                                      const std::function<void(const std::string&)>& warn = {});

}  // namespace c63::tools
