#pragma once

namespace c63 {

/// Removes a folder with its contents. Follows no links. Returns false if something is left, for example because other threads are
/// still writing. It allocates nothing, because a program may end when memory runs out. std::filesystem::remove_all() would then
/// leave the folder or crash (libstdc++ 12).
bool remove_folder(const char* path) noexcept;

}  // namespace c63
