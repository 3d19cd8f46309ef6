#include "common/cuda_environment.h"

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace c63::tools {

bool show_only_devices(std::span<const int> devices) {
  constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";
  const char* const value = std::getenv(kVariable);
  std::vector<std::string> visible;  // the user's CUDA_VISIBLE_DEVICES
  std::istringstream list(value != nullptr ? value : "");
  for (std::string device; std::getline(list, device, ',');) visible.push_back(device);
  std::string shown;
  for (const int device : devices) {
    const auto i = static_cast<std::size_t>(device);
    if (value != nullptr && i >= visible.size()) return false;
    if (!shown.empty()) shown += ',';
    shown += value == nullptr ? std::to_string(device) : visible[i];
  }
  return setenv(kVariable, shown.c_str(), 1) == 0;
}

void ask_for_queues(int count) { setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(count).c_str(), 0); }

int queues_for(const CodingSettings& settings) { return looks_ahead(settings) ? 8 : 2; }

}  // namespace c63::tools
