#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/error.h"

namespace c63::test {

/// Gives each test a folder, which is removed afterwards.
class TemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "c63-io-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write_file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  [[nodiscard]] std::size_t files_in_folder() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Bytes that look random.
inline std::string sample_bytes(std::size_t count, unsigned seed = 1) {
  std::string bytes(count, '\0');
  std::uint32_t state = seed * 2654435761U + 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

/// Runs `action`, and expects that it throws an Error of this kind and id.
inline void expect_error(ErrorKind kind, const std::string& id, const std::function<void()>& action,
                         const std::function<void(const Error&)>& check = {}) {
  try {
    action();
    ADD_FAILURE() << "no error, expected " << id;
  } catch (const Error& error) {
    EXPECT_EQ(error.id(), id) << error.what();
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    if (check) check(error);
  }
}

/// Returns frame `index`, or "" if it does not exist. The buffer is filled with 0xA5 before the read, so missing
/// samples show.
inline std::string read_frame(FrameSource& source, std::int64_t index) {
  const VideoFormat format = source.format();
  std::vector<std::uint8_t> frame(frame_bytes(format.width, format.height), 0xA5);
  if (!source.read(index, frame)) return {};
  return {frame.begin(), frame.end()};
}

/// Reads all frames of a source in order, and returns them.
inline std::string read_all(FrameSource& source) {
  std::string all;
  for (std::int64_t index = 0;; ++index) {
    const std::string frame = read_frame(source, index);
    if (frame.empty()) return all;
    all += frame;
  }
}

/// Makes a standard descriptor (0, 1 or 2) refer to what `replacement` refers to, and closes `replacement`. The
/// destructor restores the standard descriptor.
class RedirectedDescriptor {
 public:
  RedirectedDescriptor(int standard, int replacement) : standard_(standard), saved_(::dup(standard)) {
    ::dup2(replacement, standard);
    ::close(replacement);
  }
  ~RedirectedDescriptor() {
    ::dup2(saved_, standard_);
    ::close(saved_);
  }
  RedirectedDescriptor(const RedirectedDescriptor&) = delete;
  RedirectedDescriptor& operator=(const RedirectedDescriptor&) = delete;

 private:
  int standard_;
  int saved_;
};

/// Makes stdin a pipe, and writes `content` to it in small pieces, as a slow program would.
class PipedInput {
 public:
  explicit PipedInput(const std::string& content);
  ~PipedInput();
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;

 private:
  struct State;
  State* state_;
};

}  // namespace c63::test
