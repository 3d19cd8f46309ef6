#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace c63::test {

/// Returns the path of a file of the shared test data, such as "golden/…" or "sequences/…", even if it does not exist.
/// The folder is set at build time. The environment variable C63_SHARED_DATA replaces it.
inline std::filesystem::path shared_path(const std::string& name) {
  const char* const folder = std::getenv("C63_SHARED_DATA");
  return std::filesystem::path(folder != nullptr && *folder != '\0' ? folder : C63_SHARED_DATA) / name;
}

inline std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace c63::test

/// Skips the test, and says why, if this file of the shared test data is missing.
#define C63_NEEDS_SHARED(name)                                \
  if (!std::filesystem::exists(c63::test::shared_path(name))) \
  GTEST_SKIP() << "no " << c63::test::shared_path(name).string() << " (set C63_SHARED_DATA)"
