#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/frame_source.h"
#include "frames.h"

namespace c63::python {

/// An open video file.
class VideoReader {
 public:
  /// Opens the file. Call it with the GIL, which is released while the file is opened. If width and height are 0, they
  /// come from the file or its name. Throws Error like open_frame_source().
  VideoReader(std::string path, int width, int height, py::handle format, py::handle strict, py::handle tolerant);

  [[nodiscard]] FrameSource& source() { return *source_; }
  /// Locks the reader. The lock must be held while frames are read. Call it with the GIL, which is released while
  /// waiting.
  [[nodiscard]] std::unique_lock<std::mutex> use();
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Returns the video from its start: the source itself if it is seekable or unread, else the file opened again, which
  /// `again` keeps open. `passes`: it will be read more than once. Throws Error (usage, C63-TARGET-INPUT) if it is a pipe
  /// that was read, or is to be read again. Call it without the GIL.
  [[nodiscard]] FrameSource& from_start(std::unique_ptr<FrameSource>& again, bool passes);
  /// Reads frames from `first` on, and returns how many there were. Throws Error (usage, C63-TARGET-INPUT) if from_start()
  /// has given away a source that gives its frames once.
  [[nodiscard]] std::int64_t read(std::int64_t first, std::span<std::uint8_t> frames, const std::stop_token& stop);
  [[nodiscard]] const std::string& path() const { return options_.path; }
  /// Ends a read that waits for a pipe.
  void stop() { stop_.request_stop(); }

 private:
  std::mutex mutex_;
  std::stop_source stop_;
  SourceOptions options_;
  std::vector<std::string> warnings_;  ///< of the source, in order
  std::unique_ptr<FrameSource> source_;
  static constexpr std::int64_t kReadElsewhere = -1;
  std::int64_t next_ = 0;  ///< the frame after the one that was read last
};

/// A video that Python passes: arrays, or a file as a VideoReader.
class VideoInput {
 public:
  /// Arguments and errors are those of ArraySource.
  VideoInput(py::handle frames, py::handle size, std::uintptr_t stream) {
    if (py::isinstance<VideoReader>(frames)) {
      reader_ = &frames.cast<VideoReader&>();
    } else {
      arrays_.emplace(frames, size, stream);
    }
  }

  [[nodiscard]] VideoReader* reader() const { return reader_; }  ///< null for arrays
  [[nodiscard]] FrameSource& source() { return arrays_ ? arrays_->source() : reader_->source(); }
  [[nodiscard]] std::optional<int> device() const { return arrays_ ? arrays_->device() : std::nullopt; }
  /// Returns the video from its start, as VideoReader::from_start() does. Call it without the GIL, while reader() is locked.
  [[nodiscard]] FrameSource& from_start(bool passes) {
    return arrays_ ? arrays_->source() : reader_->from_start(again_, passes);
  }
  /// Ends a read that waits for a pipe.
  void stop() const {
    if (reader_ != nullptr) reader_->stop();
  }

 private:
  std::optional<ArraySource> arrays_;
  VideoReader* reader_ = nullptr;
  std::unique_ptr<FrameSource> again_;
};

}  // namespace c63::python
