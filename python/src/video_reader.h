#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/frame_source.h"

namespace c63::python {

/// An open video file.
class VideoReader {
 public:
  /// Opens the file. Call it with the GIL, which is released while the file is opened. If width and height are 0, they
  /// come from the file or its name. Throws Error like open_frame_source().
  VideoReader(std::string path, int width, int height, std::string format, bool strict);

  [[nodiscard]] FrameSource& source() { return *source_; }
  /// Locks the reader. The lock must be held while frames are read. Call it with the GIL, which is released while
  /// waiting.
  [[nodiscard]] std::unique_lock<std::mutex> use();
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Returns the same video from its start, for another pass: the source itself if it is seekable, else the file opened
  /// again, which `again` keeps open. Null if it cannot be read twice. Call it without the GIL.
  [[nodiscard]] FrameSource* from_start(std::unique_ptr<FrameSource>& again);
  [[nodiscard]] const std::string& path() const { return options_.path; }
  /// Ends a read that waits for a pipe.
  void stop() { stop_.request_stop(); }

 private:
  std::mutex mutex_;
  std::stop_source stop_;
  SourceOptions options_;
  std::vector<std::string> warnings_;  ///< of the source, in order
  std::unique_ptr<FrameSource> source_;
};

void add_video_reader(pybind11::module_& module);

}  // namespace c63::python
