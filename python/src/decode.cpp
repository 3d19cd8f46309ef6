#include <pybind11/stl.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "array.h"
#include "c63/decoder.h"
#include "c63/error.h"
#include "io/input_file.h"
#include "module.h"
#include "settings.h"
#include "threads.h"

namespace c63::python {
namespace {

/// Returns a frame as c63.DecodedFrame.
py::object to_python(DecodedFrame&& frame) {
  return of_package("c63._decode", "DecodedFrame")(
      frame.index, frame.key, frame.repeat, picture_of(std::move(frame.picture), frame.width, frame.height),
      picture_of(std::move(frame.prediction), frame.width, frame.height), motion_of(frame.motion), frame.offset,
      frame.coded_bytes, frame.width, frame.height);
}

/// Returns the settings of a decoder.
DecoderSettings settings_of(py::handle execution, bool prediction, bool motion) {
  DecoderSettings settings;
  settings.execution = settings_from(execution).execution;
  settings.keep_prediction = prediction;
  settings.keep_motion = motion;
  return settings;
}

/// Reads a file that stays open, from its beginning. The file is not mapped: if another process shortens it, that is an
/// error, and does not end this process.
class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(std::shared_ptr<const InputFile> file) : file_(std::move(file)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = read_at(next_, bytes);
    next_ += count;
    if (count == 0 && !bytes.empty() && next_ < *size()) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK", "the file became shorter while it was read",
                  {.file = file_->name(), .offset = static_cast<std::int64_t>(next_)});
    }
    return count;
  }
  std::optional<std::uint64_t> size() const override { return static_cast<std::uint64_t>(*file_->size()); }
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override {
    const std::uint64_t left = *size() - std::min(*size(), offset);  // appended bytes are no part of the stream
    return file_->read_at(static_cast<std::int64_t>(offset), bytes.first(std::min<std::uint64_t>(left, bytes.size())));
  }

 private:
  std::shared_ptr<const InputFile> file_;
  std::uint64_t next_ = 0;
};

/// The stream that Python passes: an open file, or bytes in memory. Keeps the file or the bytes alive.
class Stream {
 public:
  explicit Stream(py::handle object) {
    if (py::isinstance<InputFile>(object)) {
      file_ = object.cast<std::shared_ptr<InputFile>>();
      return;
    }
    array_.emplace(object, "stream");
    array_->require_host();
    array_->require_contiguous();
  }

  /// Returns the file as a source; null if the stream is in memory.
  [[nodiscard]] std::unique_ptr<ByteSource> file() const { return file_ ? std::make_unique<FileBytes>(file_) : nullptr; }
  [[nodiscard]] std::span<const std::uint8_t> memory() const {
    return {static_cast<const std::uint8_t*>(array_->data()), array_->size() * static_cast<std::size_t>(array_->item_bytes())};
  }

 private:
  std::shared_ptr<const InputFile> file_;
  std::optional<Array> array_;
};

/// Decodes a stream on threads of its own, a few frames ahead of the caller.
class DecodeStream {
 public:
  DecodeStream(py::handle stream, py::handle execution, bool prediction, bool motion)
      : stream_(stream), settings_(settings_of(execution, prediction, motion)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { decode(stop); });
  }
  ~DecodeStream() { close(); }
  DecodeStream(const DecodeStream&) = delete;
  DecodeStream& operator=(const DecodeStream&) = delete;

  /// Returns the next frame, or None at the end. Throws the stream's error when all frames before the error have
  /// been returned.
  py::object next() {
    process_.require("the decoder");
    std::optional<DecodedFrame> frame;
    for (bool waited = false; !waited;) {
      {
        const py::gil_scoped_release released;
        std::unique_lock lock(mutex_);
        waited = changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return !frames_.empty() || ended_; });
        if (!frames_.empty()) {
          frame = std::move(frames_.front());
          frames_.pop_front();
          changed_.notify_all();
        }
      }
      if (!waited && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    if (frame) return to_python(std::move(*frame));
    if (fault_) std::rethrow_exception(fault_);
    return py::none();
  }

  void close() {
    if (!process_.is_current()) return;
    const py::gil_scoped_release released;
    thread_.request_stop();
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void decode(const std::stop_token& stop) {
    std::exception_ptr fault;
    try {
      const Decoder::Sink sink = [this](DecodedFrame&& frame) { put(std::move(frame)); };
      if (const auto file = stream_.file()) {
        Decoder(settings_).decode(*file, sink, stop);
      } else {
        Decoder(settings_).decode(stream_.memory(), sink, stop);
      }
    } catch (...) {
      fault = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    ended_ = true;
    changed_.notify_all();
  }

  void put(DecodedFrame&& frame) {
    constexpr std::size_t kAhead = 4;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return frames_.size() < kAhead || closed_; });
    if (closed_) return;
    frames_.push_back(std::move(frame));
    changed_.notify_all();
  }

  OwnProcess process_;
  Stream stream_;
  DecoderSettings settings_;
  std::mutex mutex_;  ///< guards frames_, fault_, ended_ and closed_
  std::condition_variable changed_;
  std::deque<DecodedFrame> frames_;
  std::exception_ptr fault_;
  bool ended_ = false;
  bool closed_ = false;
  std::jthread thread_;  ///< declared last, because it uses all members above
};

/// Decodes any frame of a stream. Only one call runs at a time.
class SeekableStream {
  template <typename Call>
  auto locked(Call&& call) {
    const py::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return call();
  }

 public:
  SeekableStream(py::handle stream, py::handle execution, bool prediction, bool motion) : stream_(stream) {
    const DecoderSettings settings = settings_of(execution, prediction, motion);
    auto file = stream_.file();
    decoder_ = file ? std::make_unique<SeekableDecoder>(std::move(file), settings)
                    : std::make_unique<SeekableDecoder>(stream_.memory(), settings);
  }

  std::pair<int, int> size() {
    return locked([this] { return std::pair(decoder_->width(), decoder_->height()); });
  }
  std::int64_t count() {
    return locked([this] { return decoder_->frame_count(); });
  }
  py::object frame(std::int64_t index) {
    return to_python(locked([&] { return decoder_->frame(index); }));
  }

  /// Fills `out`, an array of frames, by decoding.
  void decode_into(py::handle out) {
    const Array array = byte_array(out, "out", true);
    std::span<std::uint8_t> room = array.span<std::uint8_t>();
    run_interruptibly([&](const std::stop_token& stop) {
      const std::lock_guard lock(mutex_);
      decoder_->frames(
          0, -1,
          [&](const FrameView& frame) {
            for (const std::span<const std::uint8_t> plane : frame.picture) {
              if (plane.size() > room.size())
                throw Error(ErrorKind::usage, "C63-ARRAY-SHAPE", "out: too small for all pictures");
              std::ranges::copy(plane, room.begin());
              room = room.subspan(plane.size());
            }
          },
          stop);
    });
  }

 private:
  Stream stream_;
  std::mutex mutex_;
  std::unique_ptr<SeekableDecoder> decoder_;
};

}  // namespace

void add_decoding(py::module_& module) {
  using namespace py::literals;
  py::class_<InputFile, std::shared_ptr<InputFile>>(module, "StreamFile")
      .def(py::init([](const std::string& path) { return std::make_shared<InputFile>(path); }), "path"_a);
  py::class_<DecodeStream, OwnProcessPtr<DecodeStream>>(module, "DecodeStream")
      .def(py::init<py::handle, py::handle, bool, bool>(), "stream"_a, "execution"_a, "prediction"_a, "motion"_a)
      .def("next", &DecodeStream::next)
      .def("close", &DecodeStream::close);
  py::class_<SeekableStream, OwnProcessPtr<SeekableStream>>(module, "SeekableStream")
      .def(py::init<py::handle, py::handle, bool, bool>(), "stream"_a, "execution"_a, "prediction"_a, "motion"_a)
      .def("size", &SeekableStream::size)
      .def("count", &SeekableStream::count)
      .def("frame", &SeekableStream::frame, "index"_a)
      .def("decode_into", &SeekableStream::decode_into, "out"_a);
}

}  // namespace c63::python
