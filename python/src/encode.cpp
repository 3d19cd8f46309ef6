#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "backends.h"
#include "c63/device_choice.h"
#include "c63/encode_session.h"
#include "c63/enum_names.h"
#include "c63/error.h"
#include "c63/picture.h"
#include "c63/quality.h"
#include "c63/target.h"
#include "module.h"
#include "settings.h"
#include "threads.h"
#include "video_input.h"

namespace c63::python {
namespace {

/// A row of the array of statistics, aligned as in C.
struct Row {
  std::int64_t index;
  std::uint64_t bytes;
  std::array<std::uint64_t, 3> sse;
  std::array<double, 3> ssim;
  std::uint64_t luma_sad;
  std::uint64_t bits[4];
  double milliseconds[8];
  double latency_ms;
  double ahead_ms[2];
  bool key;
  bool repeat;
};

/// The fields of a row, in the form of Python's struct module.
constexpr const char* kRowFormat =
    "T{q:index:Q:bytes:(3)Q:sse:(3)d:ssim:Q:luma_sad:Q:header_bits:Q:motion_bits:Q:luma_bits:Q:chroma_bits:d:read_ms:d:"
    "upload_ms:"
    "d:motion_ms:d:transform_ms:d:measure_ms:d:entropy_ms:d:download_ms:d:write_ms:d:latency_ms:d:lookahead_ms:d:"
    "filter_ms:?:key:"
    "?:repeat:}";

/// Returns rows as a numpy array of the type c63._encode.ROW. That type is made once, because numpy takes 0.1 ms to read
/// kRowFormat.
py::object array_of(std::vector<Row>&& rows) {
  const auto bytes = static_cast<py::ssize_t>(rows.size() * sizeof(Row));
  return numpy_array<std::uint8_t>(std::move(rows), {bytes}).attr("view")(of_package("c63._encode", "ROW"));
}

Row row_of(const EncodedFrame& frame) {
  const FrameStatistics& s = frame.statistics;
  const StageTimes& t = s.times;
  return {frame.index,
          frame.bytes.size(),
          s.sse,
          s.ssim,
          s.luma_sad,
          {s.bits.header, s.bits.motion, s.bits.luma, s.bits.chroma},
          {t.read, t.upload, t.motion, t.transform, t.measure, t.entropy, t.download, t.write},
          s.latency_ms,
          {t.lookahead, t.filter},
          frame.key,
          frame.repeat};
}

/// The result of one encode of a whole video.
struct Pass {
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<Row> rows;
  EncodeSummary summary;
};

/// Returns the summary of a run.
py::dict dict_of(const EncodeSummary& summary) {
  using namespace py::literals;
  return py::dict("frames"_a = summary.frames, "key_frames"_a = summary.key_frames, "bytes"_a = summary.bytes,
                  "start_up_ms"_a = summary.start_up_ms, "elapsed_ms"_a = summary.elapsed_ms, "lanes"_a = summary.lanes,
                  "backend"_a = summary.backend, "stopped"_a = summary.stopped, "target"_a = py::none());
}

/// Returns the results of a pass.
PassFigures figures_of(const std::vector<Row>& rows, const EncodeSummary& summary, const EncoderSettings& settings,
                       double frames_per_s) {
  const auto samples = measured_samples(measured_format(settings));
  QualityTotals quality;
  std::uint64_t key_bytes = 0;
  for (const Row& row : rows) {
    quality.add(row.sse, samples);
    quality.add_ssim(row.ssim);
    if (row.key) key_bytes += row.bytes;
  }
  return {.frames = summary.frames,
          .bytes = summary.bytes,
          .frames_per_s = frames_per_s,
          .psnr_y_db = quality.psnr_of_plane(0),
          .psnr_all_db = quality.psnr_of_all(),
          .ssim_y = quality.mean_ssim(0),
          .key_bytes = key_bytes};
}

/// Returns whether a target is met, the distance from it, and all passes.
py::dict dict_of(const TargetSearch& search) {
  using namespace py::literals;
  py::list passes;
  for (const TargetPass& pass : search.passes()) {
    const PassFigures& f = pass.figures;
    passes.append(py::dict("qp"_a = pass.qp, "lambda_scale"_a = pass.lambda_scale, "bytes"_a = f.bytes,
                           "psnr_y"_a = f.psnr_y_db, "psnr_all"_a = f.psnr_all_db, "ssim_y"_a = f.ssim_y));
  }
  return py::dict("met"_a = search.met(), "distance"_a = search.distance(*search.best()), "passes"_a = passes);
}

EncoderSettings settings_for(py::handle object, const VideoFormat& format) {
  EncoderSettings settings = settings_from(object);
  take_format(settings, format);
  return settings;
}

/// The devices that the settings name; `gpus` if they name no GPU. "auto" chooses by the time that the CPU would need.
Devices devices_of(py::handle settings, const std::vector<int>& gpus = {}, std::optional<double> cpu_ms = {}) {
  const std::vector<int> named = devices_from(settings);
  return select_devices(value_of<std::string>(settings.attr("backend"), "backend"), named.empty() ? gpus : named,
                        cpu_ms);
}

/// Encodes whole videos of one size, one after another.
class VideoEncoder {
 public:
  VideoEncoder(EncoderSettings settings, Devices devices, std::optional<TargetRequest> target)
      : settings_(for_target(std::move(settings), target)),
        devices_(std::move(devices)),
        target_(target),
        encoder_(make_encoder(settings_)) {}

  /// Returns the stream, one row of statistics per frame, and a summary. If `out` is a writable array, the stream is
  /// written there, and its number of bytes is returned in place of the stream.
  py::tuple encode(VideoInput& video, py::handle out) {
    std::unique_lock<std::mutex> use;
    if (video.reader() != nullptr) use = video.reader()->use();
    const VideoFormat format = video.source().format();
    const double rate = format.rate.value();
    std::optional<Array> room;
    if (!out.is_none()) room = byte_array(out, "out", true);
    std::optional<TargetSearch> passes;
    if (target_) passes.emplace(settings_.coding, target_->target);
    EncoderSettings pass_settings = settings_;
    pass_settings.measurement.repeated_columns = format.repeated_columns;
    pass_settings.measurement.repeated_rows = format.repeated_rows;
    const std::uint64_t most_memory = settings_.execution.limits.max_memory;
    Pass best;
    for (bool done = false; !done;) {
      Pass pass;
      // The best stream so far takes its part of the memory, but at most half of it.
      pass_settings.execution.limits.max_memory = most_memory - std::min(most_memory / 2, best.summary.bytes);
      run_interruptibly([&](const std::stop_token& stop) {
        const std::stop_callback wake(stop, [&] {
          video.stop();
        });
        const std::lock_guard lock(mutex_);
        std::optional<Encoder> own;
        if (passes) {
          pass_settings.coding = passes->next();
          own.emplace(make_encoder(pass_settings));
        }
        pass.summary = (own ? *own : encoder_)
                      .encode(
                          video.from_start(passes.has_value()),
                          [&](EncodedFrame&& frame) {
                            pass.rows.push_back(row_of(frame));
                            pass.frames.push_back(std::move(frame.bytes));
                          },
                          stop, stop);  // the second one drops frames that are not coded: after an exception, nobody
                                        // gets the stream
      });
      if (pass.summary.frames == 0) {
        const bool is_told = video.reader() != nullptr && !video.reader()->warnings().empty();
        const std::string why = is_told ? video.reader()->warnings().back() : "";
        throw Error(ErrorKind::input, "C63-NO-FRAMES",
                    why.empty() ? "the input has no whole frame" : why + "; there is no whole frame");
      }
      done = !passes || passes->add(figures_of(pass.rows, pass.summary, pass_settings, target_->frames_per_s.value_or(rate)));
      if (!passes || passes->is_best()) best = std::move(pass);
    }
    py::dict about = dict_of(best.summary);
    if (passes) about["target"] = dict_of(*passes);
    if (passes && !passes->met()) {
      constexpr int kCaller = 3;  // of encode(): Python's frames above the one that warns
      of_package("warnings", "warn")(text_of(passes->shortfall()), of_package("c63._error", "TargetWarning"), kCaller);
    }
    return py::make_tuple(joined(best.frames, room), array_of(std::move(best.rows)), about);
  }

 private:
  static EncoderSettings for_target(EncoderSettings settings, const std::optional<TargetRequest>& target) {
    if (!target) return settings;
    settings.execution.keep_devices = false;  // each pass has its own encoder
    settings.measurement.psnr = true;
    settings.measurement.ssim = settings.measurement.ssim || target->target.kind == Target::Kind::ssim_y;
    return settings;
  }

  [[nodiscard]] Encoder make_encoder(EncoderSettings settings) const {
    return c63::python::make_encoder(std::move(settings), devices_);
  }

  /// Returns the stream as Python bytes; or puts it into the caller's array `room`, and returns its number of bytes.
  static py::object joined(const std::vector<std::vector<std::uint8_t>>& frames, const std::optional<Array>& room) {
    std::size_t size = 0;
    for (const auto& frame : frames) size += frame.size();
    if (room && size > room->size()) {
      throw Error(ErrorKind::limit, "C63-ROOM", "out: the stream takes more than its " + std::to_string(room->size()) + " bytes");
    }
    py::object result = room ? py::object(py::int_(size))
                             : py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!result) throw py::error_already_set();
    auto* to = room ? room->span<std::uint8_t>().data() : reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(result.ptr()));
    const py::gil_scoped_release released;
    for (const auto& frame : frames) to = std::ranges::copy(frame, to).out;
    return result;
  }

  std::mutex mutex_;  ///< lets one video at a time be encoded
  EncoderSettings settings_;
  Devices devices_;
  std::optional<TargetRequest> target_;
  Encoder encoder_;  ///< with a target, only its check of the settings is used
};

/// Encodes a video. If it is in arrays on a GPU, that GPU encodes them, unless the caller names another device.
py::tuple encode(py::handle frames, py::handle size, py::handle settings, std::uintptr_t stream) {
  VideoInput video(frames, size, stream);
  EncoderSettings coding = settings_for(settings, video.source().format());
  std::vector<int> gpus;
  if (video.device() && !py::object(settings.attr("backend")).equal(py::str("cpu"))) gpus = {*video.device()};
  const auto cpu_ms = cpu_ms_to_encode(coding.coding, video.source().frame_count(), coding.execution.threads);
  VideoEncoder encoder(std::move(coding), devices_of(settings, gpus, cpu_ms), target_from(settings));
  return encoder.encode(video, py::none());
}

OwnProcessPtr<VideoEncoder> keep_encoder(py::handle width, py::handle height, py::handle settings) {
  EncoderSettings kept = settings_for(settings, {value_of<int>(width, "width"), value_of<int>(height, "height"), {}});
  kept.execution.keep_devices = true;
  return OwnProcessPtr<VideoEncoder>(
      new VideoEncoder(std::move(kept), devices_of(settings), target_from(settings)));
}

py::tuple encode_with(VideoEncoder& encoder, py::handle frames, py::handle size, std::uintptr_t stream, py::handle out) {
  VideoInput video(frames, size, stream);
  return encoder.encode(video, out);
}

/// Returns a frame as c63.CodedFrame.
py::object to_python(EncodedFrame&& frame, const VideoFormat& format) {
  const py::object statistics = array_of({row_of(frame)})[py::int_(0)];
  return of_package("c63._encode", "CodedFrame")(
      frame.index, frame.key, frame.repeat,
      py::bytes(reinterpret_cast<const char*>(frame.bytes.data()), frame.bytes.size()), statistics,
      picture_of(std::move(frame.reconstruction), format.width, format.height),
      picture_of(std::move(frame.prediction), format.width, format.height), motion_of(frame.motion));
}

/// An EncodeSession that takes frames from Python.
class PushEncoder {
 public:
  PushEncoder(py::handle width, py::handle height, py::handle settings)
      : format_{value_of<int>(width, "width"), value_of<int>(height, "height"), {}} {
    EncoderSettings coding = settings_for(settings, format_);
    if (target_from(settings)) {
      throw Error(ErrorKind::usage, "C63-SETTING", "a target needs several passes over the whole video; use c63.encode() instead of Encoder");
    }
    Devices devices = devices_of(settings);
    const py::gil_scoped_release released;
    session_ = std::make_unique<EncodeSession>(make_encoder(std::move(coding), devices));
  }
  ~PushEncoder() { close(); }
  PushEncoder(const PushEncoder&) = delete;
  PushEncoder& operator=(const PushEncoder&) = delete;

  void push(py::handle frame) {
    const Array array = byte_array(frame, "frame");
    const std::vector<std::ptrdiff_t> rows = {format_.height + format_.height / 2, format_.width};
    const std::size_t bytes = frame_bytes(format_.width, format_.height);
    if (array.size() != bytes || (array.dimensions() != 1 && array.shape() != rows)) {
      array.refuse("C63-ARRAY-SHAPE", shape_text(rows) + " or (" + std::to_string(bytes) + ",)");
    }
    const auto session = open();
    const py::gil_scoped_release released;
    session->push(array.span<const std::uint8_t>());
  }

  py::object poll() {
    return take([](EncodeSession& session) { return session.poll(); });
  }
  py::object wait() {
    return take([](EncodeSession& session) { return session.wait(); });
  }

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

  /// Ends the session. Frames that were not polled are lost. The session lives on until other threads have left their
  /// calls.
  void close() {
    if (!process_.is_current()) return;
    std::shared_ptr<EncodeSession> session = std::move(session_);
    const py::gil_scoped_release released;
    if (session) session->close();  // wakes threads that wait for a frame
    session.reset();
  }

 private:
  /// Returns the session. The caller must hold the GIL, which guards session_.
  [[nodiscard]] std::shared_ptr<EncodeSession> open() const {
    process_.require("the encoder");
    if (!session_) throw Error(ErrorKind::usage, "C63-SESSION-CLOSED", "the encoder was closed");
    return session_;
  }

  /// Returns the next frame, or None.
  template <typename Take>
  py::object take(Take&& from) {
    const auto session = open();
    std::optional<EncodedFrame> frame;
    {
      const py::gil_scoped_release released;
      frame = from(*session);
    }
    return frame ? to_python(std::move(*frame), format_) : py::object(py::none());
  }

  OwnProcess process_;
  VideoFormat format_;
  std::shared_ptr<EncodeSession> session_;
};

}  // namespace

void add_encoding(py::module_& module) {
  using namespace py::literals;
  py::class_<PushEncoder, OwnProcessPtr<PushEncoder>>(module, "PushEncoder")
      .def(py::init<py::handle, py::handle, py::handle>(), "width"_a, "height"_a, "settings"_a)
      .def("push", &PushEncoder::push, "frame"_a)
      .def("poll", &PushEncoder::poll)
      .def("wait", &PushEncoder::wait)
      .def("finish", &PushEncoder::finish)
      .def("summary", &PushEncoder::summary)
      .def("close", &PushEncoder::close);
  py::class_<VideoEncoder, OwnProcessPtr<VideoEncoder>>(module, "VideoEncoder")
      .def(py::init(&keep_encoder), "width"_a, "height"_a, "settings"_a)
      .def("encode", encode_with, "frames"_a, "size"_a, "stream"_a, "out"_a);
  module.def("encode", encode, "frames"_a, "size"_a, "settings"_a, "stream"_a);
  module.def("check_settings", check_settings, "settings"_a);
  module.def("gpu_obstacle", gpu_obstacle);
  module.def("options", options);
  module.def("source_formats", [] {
    py::list names;
    for (const auto& [format, name] : names_of<SourceFormat>()) names.append(name);
    return names;
  });
  module.def("no_statistics", [] { return numpy_array<Row>(std::vector<Row>(), {0}, kRowFormat); });
}

}  // namespace c63::python
