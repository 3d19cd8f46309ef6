#include "encode.h"

#include <pybind11/stl.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "backends.h"
#include "c63/encode_session.h"
#include "c63/error.h"
#include "coded_stream.h"
#include "device_arrays.h"
#include "frames.h"
#include "interruptible.h"
#include "motion.h"
#include "own_process.h"
#include "samples.h"
#include "settings.h"
#include "statistics.h"
#include "video_reader.h"

namespace c63::python {
namespace {

EncoderSettings settings_for(py::handle object, const VideoFormat& format) {
  EncoderSettings settings = settings_from(object);
  settings.coding.width = format.width;
  settings.coding.height = format.height;
  return settings;
}

/// Encodes whole videos of one size, one after another.
class VideoEncoder {
 public:
  VideoEncoder(EncoderSettings settings, Devices devices) : encoder_(std::move(settings), std::move(devices.factories)) {
    if (devices.fallback) encoder_.set_fallback(devices.fallback, nullptr);
  }

  /// Stream, rows of statistics, summary. A writable array `out` takes the stream instead, which is then the number of its bytes.
  py::tuple encode(FrameSource& source, py::handle out, const std::function<void()>& on_stop = {}) {
    std::optional<Array> room;
    if (!out.is_none()) {
      room.emplace(out, "out");
      room->require_host();
      room->require_dtype("uint8");
      room->require_contiguous();
      room->require_writable();
    }
    CodedStream stream(room ? std::optional(room->span<std::uint8_t>()) : std::nullopt);
    std::string rows;
    EncodeSummary summary;
    run_interruptibly([&](const std::stop_token& stop) {
      const std::stop_callback wake(stop, [&] {
        if (on_stop) on_stop();
      });
      const std::lock_guard lock(mutex_);
      ThreadArena& arena = *encoder_.settings().execution.arena;
      summary = encoder_.encode(
          source,
          [&](EncodedFrame&& frame) {
            rows += row_of(frame);
            stream.append(std::move(frame.bytes), arena);
          },
          stop);
      stream.finish(arena);
    });
    return py::make_tuple(room ? py::int_(stream.size()) : stream.take_bytes(), py::bytes(rows), dict_of(summary));
  }

 private:
  std::mutex mutex_;  ///< one video at a time
  Encoder encoder_;
};

/// The frames of arrays as a source. Holds the arrays.
class ArraySource {
 public:
  ArraySource(py::handle frames, py::handle size, std::uintptr_t stream) : arrays_(frames, size, stream) {
    if (arrays_.on_device()) {
      DeviceVideo video = device_video(arrays_, stream);
      source_ = std::move(video.source);
      device_ = video.device;
    } else {
      source_ = arrays_.source();
    }
  }

  [[nodiscard]] FrameSource& source() { return *source_; }
  [[nodiscard]] const VideoFormat& format() const { return arrays_.format(); }
  [[nodiscard]] std::optional<int> device() const { return device_; }

 private:
  FrameArrays arrays_;
  std::unique_ptr<FrameSource> source_;
  std::optional<int> device_;
};

/// Frames of a GPU are encoded on it, unless somebody says otherwise.
py::tuple encode_arrays(py::handle frames, py::handle size, py::handle settings, const std::string& backend,
                        py::handle devices, std::uintptr_t stream) {
  std::vector<int> gpus = ints_from(devices, "devices");
  ArraySource arrays(frames, size, stream);
  if (arrays.device() && gpus.empty() && backend != "cpu") gpus = {*arrays.device()};
  return VideoEncoder(settings_for(settings, arrays.format()), select_devices(backend, gpus)).encode(arrays.source(), py::none());
}

py::tuple encode_video(VideoReader& reader, py::handle settings, const std::string& backend, py::handle devices) {
  const std::vector<int> gpus = ints_from(devices, "devices");
  const auto use = reader.use();
  return VideoEncoder(settings_for(settings, reader.source().format()), select_devices(backend, gpus))
      .encode(reader.source(), py::none(), [&] { reader.stop(); });
}

OwnProcessPtr<VideoEncoder> keep_encoder(py::handle width, py::handle height, py::handle settings, const std::string& backend,
                                         py::handle gpus) {
  EncoderSettings kept = settings_for(settings, {int_from(width, "width"), int_from(height, "height"), {}});
  kept.execution.keep_devices = true;
  return OwnProcessPtr<VideoEncoder>(new VideoEncoder(std::move(kept), select_devices(backend, ints_from(gpus, "devices"))));
}

py::tuple encode_arrays_with(VideoEncoder& encoder, py::handle frames, py::handle size, std::uintptr_t stream, py::handle out) {
  ArraySource arrays(frames, size, stream);
  return encoder.encode(arrays.source(), out);
}

py::tuple encode_video_with(VideoEncoder& encoder, VideoReader& reader, py::handle out) {
  const auto use = reader.use();
  return encoder.encode(reader.source(), out, [&] { reader.stop(); });
}

/// A frame that Python looks at.
struct CodedFrame {
  py::bytes data;
  py::bytes row;
  Samples reconstruction;
  Samples prediction;
  std::vector<PlaneMotion> motion;
};

CodedFrame hand_out(EncodedFrame&& frame) {
  CodedFrame coded{py::bytes(reinterpret_cast<const char*>(frame.bytes.data()), frame.bytes.size()), py::bytes(row_of(frame)),
                   Samples(std::move(frame.reconstruction)), Samples(std::move(frame.prediction)), {}};
  for (MotionField& field : frame.motion) {
    if (!field.vectors.empty()) coded.motion.emplace_back(std::move(field));
  }
  return coded;
}

/// EncodeSession with the frames that Python has.
class PushEncoder {
 public:
  PushEncoder(py::handle width, py::handle height, py::handle settings, const std::string& backend, py::handle gpus)
      : format_{int_from(width, "width"), int_from(height, "height"), {}} {
    EncoderSettings coding = settings_for(settings, format_);
    Devices devices = select_devices(backend, ints_from(gpus, "devices"));
    const py::gil_scoped_release released;
    session_ = std::make_unique<EncodeSession>(std::move(coding), std::move(devices.factories));
  }
  ~PushEncoder() { close(); }
  PushEncoder(const PushEncoder&) = delete;
  PushEncoder& operator=(const PushEncoder&) = delete;

  void push(py::handle frame) {
    const Array array(frame, "frame");
    array.require_host();
    array.require_dtype("uint8");
    array.require_contiguous();
    const std::vector<std::ptrdiff_t> rows = {format_.height + format_.height / 2, format_.width};
    const std::size_t bytes = frame_bytes(format_.width, format_.height);
    if (array.size() != bytes || (array.dimensions() != 1 && array.shape() != rows)) {
      array.refuse("C63-ARRAY-SHAPE", shape_text(rows) + " or (" + std::to_string(bytes) + ",)");
    }
    const auto session = open();
    const py::gil_scoped_release released;
    session->push(array.span<const std::uint8_t>());
  }

  std::optional<CodedFrame> poll() { return take([](EncodeSession& session) { return session.poll(); }); }
  std::optional<CodedFrame> wait() { return take([](EncodeSession& session) { return session.wait(); }); }

  void finish() {
    const auto session = open();
    const py::gil_scoped_release released;
    session->finish();
  }

  py::dict summary() {
    const auto session = open();
    EncodeSummary summary;
    {
      const py::gil_scoped_release released;
      summary = session->summary();
    }
    return dict_of(summary);
  }

  /// Ends it; frames that were not polled are lost. Other threads that are in a call keep the session until they have left it.
  void close() {
    if (!process_.is_current()) return;
    std::shared_ptr<EncodeSession> session = std::move(session_);
    const py::gil_scoped_release released;
    if (session.use_count() > 1) session->finish();  // who waits for a frame waits no longer
    session.reset();
  }

 private:
  /// To be called with the GIL, which guards session_.
  [[nodiscard]] std::shared_ptr<EncodeSession> open() const {
    if (!process_.is_current()) {
      throw Error(ErrorKind::usage, "C63-FORKED", "the encoder's threads are in the process that made it");
    }
    if (!session_) throw Error(ErrorKind::usage, "C63-SESSION-CLOSED", "the encoder was closed");
    return session_;
  }

  template <typename Take>
  std::optional<CodedFrame> take(Take&& from) {
    const auto session = open();
    std::optional<EncodedFrame> frame;
    {
      const py::gil_scoped_release released;
      frame = from(*session);
    }
    if (!frame) return std::nullopt;
    return hand_out(std::move(*frame));
  }

  OwnProcess process_;
  VideoFormat format_;
  std::shared_ptr<EncodeSession> session_;
};

}  // namespace

void add_encoding(py::module_& module) {
  using namespace py::literals;
  py::class_<CodedFrame>(module, "CodedFrame")
      .def_readonly("data", &CodedFrame::data)
      .def_readonly("row", &CodedFrame::row)
      .def_readonly("reconstruction", &CodedFrame::reconstruction)
      .def_readonly("prediction", &CodedFrame::prediction)
      .def_readonly("motion", &CodedFrame::motion);
  py::class_<PushEncoder, OwnProcessPtr<PushEncoder>>(module, "PushEncoder")
      .def(py::init<py::handle, py::handle, py::handle, const std::string&, py::handle>(), "width"_a, "height"_a,
           "settings"_a, "backend"_a, "devices"_a)
      .def("push", &PushEncoder::push, "frame"_a)
      .def("poll", &PushEncoder::poll)
      .def("wait", &PushEncoder::wait)
      .def("finish", &PushEncoder::finish)
      .def("summary", &PushEncoder::summary)
      .def("close", &PushEncoder::close);
  py::class_<VideoEncoder, OwnProcessPtr<VideoEncoder>>(module, "VideoEncoder")
      .def(py::init(&keep_encoder), "width"_a, "height"_a, "settings"_a, "backend"_a, "devices"_a)
      .def("encode_arrays", encode_arrays_with, "frames"_a, "size"_a, "stream"_a, "out"_a)
      .def("encode_video", encode_video_with, "reader"_a, "out"_a);
  module.def("encode_arrays", encode_arrays, "frames"_a, "size"_a, "settings"_a, "backend"_a, "devices"_a,
             "stream"_a);
  module.def("encode_video", encode_video, "reader"_a, "settings"_a, "backend"_a, "devices"_a);
  module.def("gpu_obstacle", gpu_obstacle);
  module.attr("STATISTICS_FIELDS") = row_fields();
}

}  // namespace c63::python
