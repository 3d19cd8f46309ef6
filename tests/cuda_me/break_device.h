#pragma once

namespace c63::cuda {

/// Runs a kernel that writes to an invalid address. Afterwards nothing works on the current device in this process.
void break_device();

}  // namespace c63::cuda
