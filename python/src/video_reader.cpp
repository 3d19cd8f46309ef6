#include <pybind11/stl.h>

#include <filesystem>
#include <span>
#include <system_error>

#include "array.h"
#include "c63/error.h"
#include "c63/media.h"
#include "common/video_input.h"
#include "module.h"
#include "threads.h"
#include "video_input.h"

namespace c63::python {
namespace {

/// Fills an array (n, frame bytes) with frames, beginning at `first`. Returns the number of frames read.
std::int64_t read_into(VideoReader& reader, std::int64_t first, py::handle out) {
  const Array array = byte_array(out, "out", true);
  const VideoFormat format = reader.source().format();
  const std::size_t bytes = frame_bytes(format.width, format.height);
  if (array.dimensions() < 1 || array.size() != bytes * static_cast<std::size_t>(array.shape()[0])) {
    array.refuse("C63-ARRAY-SHAPE", "frames of " + std::to_string(bytes) + " bytes");
  }
  const std::span<std::uint8_t> samples = array.span<std::uint8_t>();
  const auto use = reader.use();
  std::int64_t count = 0;
  run_interruptibly([&](const std::stop_token& stop) {
    const std::stop_callback wake(stop, [&] { reader.stop(); });
    count = reader.read(first, samples, stop);
  });
  return count;
}

}  // namespace

VideoReader::VideoReader(std::string path, int width, int height, py::handle format, py::handle strict,
                         py::handle tolerant) {
  options_.path = std::move(path);
  options_.width = width;
  options_.height = height;
  options_.format = value_of<SourceFormat>(format, "format");
  options_.strict = value_of<bool>(strict, "strict");
  options_.tolerant = value_of<bool>(tolerant, "tolerant");
  options_.stop = stop_.get_token();
  options_.warn = [this](const std::string& line) { warnings_.push_back(line); };
  keep_media_messages();  // some damage is only logged, and must be an error as in the programs
  const py::gil_scoped_release released;
  source_ = tools::open_video(options_);
}

FrameSource& VideoReader::from_start(std::unique_ptr<FrameSource>& again, bool passes) {
  if (source_->seekable()) return *source_;
  std::error_code fault;
  if (!std::filesystem::is_regular_file(options_.path, fault) && (passes || next_ != 0)) {
    throw Error(ErrorKind::usage, "C63-TARGET-INPUT", "this input can be read only once: give the array from read()", {.file = path()});
  }
  if (next_ == 0) {
    next_ = kReadElsewhere;
    return *source_;
  }
  SourceOptions options = options_;
  options.warn = {};  // the first opening has given them
  again.reset();
  again = tools::open_video(options);
  return *again;
}

std::int64_t VideoReader::read(std::int64_t first, std::span<std::uint8_t> frames, const std::stop_token& stop) {
  const VideoFormat format = source_->format();
  const std::size_t bytes = frame_bytes(format.width, format.height);
  if (!source_->seekable() && next_ == kReadElsewhere) {
    throw Error(ErrorKind::usage, "C63-TARGET-INPUT", "an encode or a metric has read its frames: open it again", {.file = path()});
  }
  if (!source_->seekable()) first = next_;
  std::int64_t count = 0;
  for (std::size_t at = 0; at < frames.size() && !stop.stop_requested(); at += bytes, ++count) {
    if (!source_->read(first + count, frames.subspan(at, bytes))) break;
    next_ = first + count + 1;
  }
  return count;
}

std::unique_lock<std::mutex> VideoReader::use() {
  const py::gil_scoped_release released;
  return std::unique_lock(mutex_);
}

void add_video_reader(py::module_& module) {
  using namespace py::literals;
  module.def(
      "keep_media_messages", &keep_media_messages,
      "From now on FFmpeg's messages are in c63's errors, not on standard error. c63.open() does that, too.");
  py::class_<VideoReader, OwnProcessPtr<VideoReader>>(module, "VideoReader")
      .def(py::init<std::string, int, int, py::handle, py::handle, py::handle>(), "path"_a, "width"_a, "height"_a,
           "format"_a, "strict"_a, "tolerant"_a)
      .def(
          "about",
          [](VideoReader& r) {
            const VideoFormat format = r.source().format();
            return py::make_tuple(format.width, format.height, format.rate.numerator, format.rate.denominator,
                                  r.source().frame_count(), r.source().seekable());
          },
          "Returns width, height, numerator and denominator of the frame rate, number of frames or None, and whether "
          "any can be read")
      .def_property_readonly("warnings",
                             [](VideoReader& r) {
                               py::list lines;
                               for (const std::string& line : r.warnings()) lines.append(text_of(line));
                               return lines;
                             })
      .def("read_into", read_into, "first"_a, "out"_a);
}

}  // namespace c63::python
