#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "array.h"
#include "c63/frame_source.h"

namespace c63::python {

/// One plane of all frames of a video, in the memory of an array.
struct PlaneRows {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t frame_stride = 0;  ///< bytes from one frame to the next
  std::ptrdiff_t row_stride = 0;    ///< bytes from one row to the next
  std::size_t rows = 1;
  std::size_t row_bytes = 0;

  [[nodiscard]] bool without_gaps() const { return rows <= 1 || row_stride == static_cast<std::ptrdiff_t>(row_bytes); }
};

/// Frames in arrays, as a source: uint8 (n, height·3/2, width) with the planes Y, U, V one below the other, or a tuple
/// of three arrays, (n, height, width) and twice (n, height/2, width/2), or (n, frame bytes), or grey planes (n,
/// height, width), whose chroma is 128. Keeps the arrays alive.
class ArraySource {
 public:
  /// `size` is (width, height) or None. It is needed for (n, frame bytes) and for grey planes. `stream` is the handle
  /// of the CUDA stream on which arrays of a GPU are computed. Throws Error: usage, which says what was given and what
  /// was wanted; device if the arrays are on a GPU and none can be used.
  ArraySource(py::handle frames, py::handle size, std::uintptr_t stream);

  [[nodiscard]] FrameSource& source() { return *source_; }
  [[nodiscard]] const VideoFormat& format() const { return format_; }
  /// Returns the index of the GPU that holds the frames. Empty: they are in host memory.
  [[nodiscard]] std::optional<int> device() const { return device_; }

 private:
  void take_linear(py::handle size);
  void take_grey();
  void take_planes();
  /// Returns a pointer to the first byte of the first frame if all frames lie one after another without gaps. Otherwise
  /// returns null.
  [[nodiscard]] const std::uint8_t* whole_frames() const;
  void open_on_device(std::uintptr_t stream);

  std::vector<Array> arrays_;
  VideoFormat format_;
  std::int64_t count_ = 0;
  std::array<PlaneRows, 3> planes_;
  std::vector<std::uint8_t> grey_;  ///< the chroma of grey planes
  std::unique_ptr<FrameSource> source_;
  std::optional<int> device_;
};

/// An open video file.
class VideoReader {
 public:
  /// Opens the file. Call it with the GIL, which is released while the file is opened. If width and height are 0, they
  /// come from the file or its name. Throws Error like open_video() of the programs.
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
  /// Reads frames from `first` on, or the next ones if the source is not seekable. Returns how many there were. Throws
  /// Error (usage, C63-TARGET-INPUT) if from_start() has given away a source that gives its frames once.
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
