#pragma once

namespace c63 {

/// Removes a folder with all that is in it, as far as that is possible, and follows no links. Allocates nothing, since running out
/// of memory may be why a program ends: std::filesystem::remove_all() then leaves the folder behind, or crashes (libstdc++ 12).
/// Returns false if something is left, such as what other threads are still writing.
bool remove_folder(const char* path) noexcept;

}  // namespace c63
