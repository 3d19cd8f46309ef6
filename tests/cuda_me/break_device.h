#pragma once

namespace c63::cuda {

/// Runs a kernel that writes to an invalid address. After that, this process can no longer use the current device.
void break_device();

}  // namespace c63::cuda
