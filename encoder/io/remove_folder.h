#pragma once

namespace c63 {

/// Removes a folder with its contents. Does not follow links. Returns false if something is left, for example because
/// other threads are still writing. Allocates no memory, because a program may end when memory has run out.
/// std::filesystem::remove_all() would then leave the folder or crash (libstdc++ 12).
bool remove_folder(const char* path) noexcept;

}  // namespace c63
