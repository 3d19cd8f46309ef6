#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "c63/frame_source.h"

namespace c63::python {

/// A video file as the tools read it.
class VideoReader {
 public:
  /// Opens it without the GIL. `size` (0, 0): from the file or its name. Throws Error like open_frame_source().
  VideoReader(std::string path, int width, int height, std::string format, bool strict);

  [[nodiscard]] FrameSource& source() { return *source_; }
  /// Must be held while frames are read: one caller at a time. Waits without the GIL; must be called with it.
  [[nodiscard]] std::unique_lock<std::mutex> use();
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Returns the same video from its start, for another pass: the source itself if it can seek, else the file opened
  /// again, which `again` holds. Null if it cannot be read twice. Called without the GIL.
  [[nodiscard]] FrameSource* from_start(std::unique_ptr<FrameSource>& again);
  [[nodiscard]] const std::string& path() const { return options_.path; }
  /// Ends the waiting for a pipe.
  void stop() { stop_.request_stop(); }

 private:
  std::mutex mutex_;
  std::stop_source stop_;
  SourceOptions options_;
  std::vector<std::string> warnings_;  ///< returns the reader's warning
  std::unique_ptr<FrameSource> source_;
};

void add_video_reader(pybind11::module_& module);

}  // namespace c63::python
