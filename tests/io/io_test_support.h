#pragma once

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "c63/error.h"
#include "c63/frame_source.h"
#include "support/expect_error.h"
#include "support/folder_test.h"

namespace c63::test {

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
  explicit PipedInput(const std::string& content) {
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    redirected_ = std::make_unique<RedirectedDescriptor>(STDIN_FILENO, ends[0]);
    writer_ = std::thread([content, end = ends[1]] {
      std::size_t piece = 1;
      for (std::size_t at = 0; at < content.size();) {
        const ssize_t put = ::write(end, content.data() + at, std::min(piece, content.size() - at));
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
        piece = piece % 3001 + 97;
      }
      ::close(end);
    });
  }
  ~PipedInput() {
    redirected_.reset();  // closes the reading end, so that the writer cannot hang
    writer_.join();
  }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;

 private:
  std::unique_ptr<RedirectedDescriptor> redirected_;
  std::thread writer_;
};

/// Tests of sources. Warnings are kept.
class SourceTest : public FolderTest {
 protected:
  SourceOptions options(const std::string& path, int width = 0, int height = 0) {
    return {.path = path, .width = width, .height = height, .warn = [this](const std::string& text) {
              warnings_.push_back(text);
            }};
  }
  std::vector<std::string> warnings_;
};

}  // namespace c63::test
