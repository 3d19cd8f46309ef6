#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "files/scratch_folder.h"

namespace c63::test {

inline void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// A new folder, which is removed when the object is destroyed.
struct TemporaryFolder : ScratchFolder {
  TemporaryFolder() : ScratchFolder("", "c63-test") {}
};

}  // namespace c63::test
