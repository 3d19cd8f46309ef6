#pragma once

#include <functional>
#include <optional>
#include <string>

#include "c63/picture.h"

namespace c63::tools {

/// Returns the name of the JSON file next to a stream. `c63enc --sidecar` and `c63enc --segment` write it.
[[nodiscard]] std::string sidecar_path(const std::string& stream);

/// Throws Error (usage) if a sidecar is wanted but `stream` is a pipe or a device.
void check_sidecar(bool wanted, const std::string& stream);

/// A frame rate, and the file in which it was found.
struct SidecarRate {
  FrameRate rate;
  std::string path;
};

/// Returns the frame rate in the JSON file next to `stream`. Returns nullopt if there is no file, or no rate in it, or if it
/// belongs to another stream or cannot be read. In the last two cases, `warn` gets one line; it may be empty.
[[nodiscard]] std::optional<SidecarRate> sidecar_rate(const std::string& stream,
                                                      const std::function<void(const std::string&)>& warn = {});

}  // namespace c63::tools
