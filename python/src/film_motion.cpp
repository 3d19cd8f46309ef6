#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "backends.h"
#include "c63/device_choice.h"
#include "c63/error.h"
#include "c63/film_motion.h"
#include "c63/media.h"
#include "common/video_input.h"
#include "module.h"
#include "threads.h"

namespace c63::python {
namespace {

/// The arguments of c63.film_motion() by name.
class Arguments {
 public:
  explicit Arguments(py::dict values) : values_(std::move(values)) {}

  template <typename T>
  [[nodiscard]] T get(const char* name) const {
    return value_of<T>(values_[name], name);
  }
  template <typename T>
  [[nodiscard]] std::optional<T> find(const char* name) const {
    if (values_[name].is_none()) return std::nullopt;
    return get<T>(name);
  }

 private:
  py::dict values_;
};

/// Values of the blocks of some frames. Fields that are not wanted stay empty.
struct Fields {
  std::vector<MotionVector> vectors;
  std::vector<std::array<float, 2>> fine;  ///< in place of `vectors`
  std::vector<std::uint8_t> agrees;
  std::vector<std::uint16_t> sads, seconds, quarters;
  std::vector<std::array<float, 2>> codec_vectors;
  std::vector<std::uint16_t> codec_sads;

  void add(const FilmFrame& frame) {
    if (frame.fine.empty()) vectors.insert(vectors.end(), frame.vectors.begin(), frame.vectors.end());
    for (std::size_t i = 0; i < frame.fine.size(); ++i) fine.push_back(frame.in_samples(i));
    agrees.insert(agrees.end(), frame.agrees.begin(), frame.agrees.end());
    sads.insert(sads.end(), frame.sads.begin(), frame.sads.end());
    seconds.insert(seconds.end(), frame.seconds.begin(), frame.seconds.end());
    quarters.insert(quarters.end(), frame.quarters.begin(), frame.quarters.end());
    if (frame.codec == nullptr) return;
    for (std::size_t i = 0; i < frame.vectors.size(); ++i) {
      codec_vectors.push_back(frame.codec->in_samples(i));
      codec_sads.push_back(frame.codec->sad_or_none(i));
    }
  }

  void reserve(std::size_t blocks, const FilmSettings& settings) {
    settings.search.fine ? fine.reserve(blocks) : vectors.reserve(blocks);
    sads.reserve(blocks);
    if (settings.seconds) seconds.reserve(blocks);
    if (settings.quarters) quarters.reserve(4 * blocks);
    if (settings.codec_vectors) codec_vectors.reserve(blocks);
    if (settings.codec_vectors) codec_sads.reserve(blocks);
  }

  /// Returns vectors, sad, second, quarters, agrees, codec_vectors and codec_sad as arrays that begin with `shape`; None
  /// for those that are not wanted.
  [[nodiscard]] py::tuple to_python(const std::vector<py::ssize_t>& shape, const FilmSettings& settings) {
    const auto with = [&](py::ssize_t each) {
      std::vector<py::ssize_t> all = shape;
      all.push_back(each);
      return all;
    };
    const auto array_if = [](bool wanted, auto&& make) { return wanted ? make() : py::object(py::none()); };
    return py::make_tuple(
        settings.search.fine ? numpy_array<float>(std::move(fine), with(2)) : numpy_array<std::int8_t>(std::move(vectors), with(2)),
        numpy_array<std::uint16_t>(std::move(sads), shape),
        array_if(settings.seconds, [&] { return numpy_array<std::uint16_t>(std::move(seconds), shape); }),
        array_if(settings.quarters, [&] { return numpy_array<std::uint16_t>(std::move(quarters), with(4)); }),
        array_if(settings.search.fine && settings.search.fine->check >= 0,
                 [&] { return numpy_array<std::uint8_t>(std::move(agrees), shape); }),
        array_if(settings.codec_vectors, [&] { return numpy_array<float>(std::move(codec_vectors), with(2)); }),
        array_if(settings.codec_vectors, [&] { return numpy_array<std::uint16_t>(std::move(codec_sads), shape); }));
  }
};

/// The motion of a film for Python.
class MotionReader {
 public:
  MotionReader(std::string path, py::dict values) : path_(std::move(path)) {
    const Arguments of(std::move(values));
    SourceOptions film;
    film.path = path_;
    film.width = of.get<int>("width");
    film.height = of.get<int>("height");
    film.format = of.get<SourceFormat>("format");
    film.strict = of.get<bool>("strict");
    film.tolerant = of.get<bool>("tolerant");
    film.stop = stop_.get_token();
    film.warn = [this](const std::string& line) {
      const std::lock_guard lock(warnings_mutex_);
      warnings_.push_back(line);
    };
    film.ignore_times = true;
    pictures_ = of.get<bool>("pictures");
    film.luma_only = !pictures_;
    film.details = std::make_shared<FrameDetails>();
    const auto check = of.find<int>("check");  // in quarters of a sample
    const FineMotionSettings fine{.range = of.get<int>("range"), .block = of.get<int>("block"), .fraction = of.get<int>("fraction"),
                                  .smooth = of.get<int>("smooth"), .check = check ? *check * (kFineUnits / 4) : -1};
    if (fine.is_plain()) {
      settings_.search.range = fine.range;
    } else {
      settings_.search.fine = fine;
    }
    settings_.search.zero_bias = of.get<int>("zero_bias");
    settings_.search.second_distance = of.get<int>("second_distance");
    settings_.search.guarded = true;
    settings_.distance = of.get<int>("distance");
    settings_.seconds = of.get<bool>("second");
    settings_.quarters = of.get<bool>("quarters");
    settings_.codec_vectors = film.codec_vectors = of.get<bool>("codec_vectors");
    settings_.first_index = of.get<std::int64_t>("first");
    settings_.threads = of.get<int>("threads");
    if (const auto most = of.find<std::uint64_t>("max_memory")) film.limits.max_memory = settings_.limits.max_memory = *most;
    const auto count = of.find<std::int64_t>("count");
    const auto backend = of.get<std::string>("backend");
    const auto device = of.find<int>("device");
    const auto hwaccel = of.get<std::string>("hwaccel");
    if (hwaccel != "none" && hwaccel != "cuda")
      throw Error(ErrorKind::usage, "C63-SETTING", "hwaccel: wanted none or cuda, got '" + hwaccel + "'");
    if (check && (*check < 0 || *check > 4096)) throw Error(ErrorKind::usage, "C63-SETTING", "check: wanted 0 to 4096 quarter samples");
    if (settings_.search.fine && (settings_.seconds || settings_.quarters || settings_.search.zero_bias != 0))
      throw Error(ErrorKind::usage, "C63-SETTING",
                  "second, quarters and zero_bias are for the plain search: 8x8 blocks, whole samples, a range of at most 127, no smooth, no check");
    if (settings_.codec_vectors && settings_.distance != 1)
      throw Error(ErrorKind::usage, "C63-SETTING", "codec_vectors chooses the distance itself");
    keep_media_messages();
    run_interruptibly([&](const std::stop_token& stop) {
      const std::stop_callback wake(stop, [this] { stop_all(); });  // a pipe may keep the opening waiting
      open(film, backend, device, hwaccel == "cuda", count);
    });
  }
  ~MotionReader() { close(); }
  MotionReader(const MotionReader&) = delete;
  MotionReader& operator=(const MotionReader&) = delete;

  [[nodiscard]] py::tuple about() const {
    return py::make_tuple(format_.width, format_.height, format_.rate.numerator, format_.rate.denominator, expected_);
  }

  /// Returns the values of c63.FrameMotion for the next frame; None at the end.
  py::object next() {
    const auto use = begin();
    const FilmFrame* frame = nullptr;
    if (motion_->is_ready()) {
      frame = motion_->next();
    } else {
      run_interruptibly([&](const std::stop_token& stop) {
        const std::stop_callback wake(stop, [this] { stop_all(); });
        frame = take();
      });
    }
    if (frame == nullptr) return py::none();
    ++frames_;
    std::vector<std::uint8_t> samples;
    if (pictures_) samples.assign(frame->picture.begin(), frame->picture.end());
    const py::object picture = picture_of(std::move(samples), format_.width, format_.height);
    const bool has_vectors = frame->reference >= 0;
    Fields fields;
    if (has_vectors) fields.add(*frame);
    const py::object reference = has_vectors ? py::object(py::int_(frame->reference)) : py::object(py::none());
    const py::object values =
        has_vectors ? fields.to_python({frame->rows, frame->columns}, settings_)
                    : py::make_tuple(py::none(), py::none(), py::none(), py::none(), py::none(), py::none(), py::none());
    return py::make_tuple(frame->index, frame->time, std::string(1, frame->kind), reference) + values + py::make_tuple(picture);
  }

  /// Reads the rest of the film. Returns frame, time, kind and reference of all frames that have a reference, and a tuple
  /// of their fields. Calls progress() after each frame, unless it is None.
  py::tuple read(const py::object& progress) {
    const auto use = begin();
    std::vector<std::int64_t> indices, references;
    std::vector<double> times;
    std::vector<char> kinds;
    Fields fields;
    const int columns = (format_.width + 7) / 8;
    const int rows = (format_.height + 7) / 8;
    const bool tells = !progress.is_none();
    run_interruptibly([&](const std::stop_token& stop) {
      const std::stop_callback wake(stop, [this] { stop_all(); });
      constexpr std::int64_t kMostExpected = 1 << 16;  // the film's header may be wrong
      const auto expected = static_cast<std::size_t>(std::clamp<std::int64_t>(expected_.value_or(0), 0, kMostExpected));
      fields.reserve(expected * static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), settings_);
      while (const FilmFrame* const frame = stopped_ ? nullptr : take()) {
        ++frames_;
        if (frame->reference >= 0) {
          indices.push_back(frame->index);
          references.push_back(frame->reference);
          times.push_back(frame->time);
          kinds.push_back(frame->kind);
          fields.add(*frame);
        }
        if (!tells) continue;
        const py::gil_scoped_acquire acquired;
        progress();
      }
    });
    const auto count = std::ssize(indices);
    return py::make_tuple(numpy_array<std::int64_t>(std::move(indices), {count}), numpy_array<double>(std::move(times), {count}),
                          numpy_array<char>(std::move(kinds), {count}, "1s"),
                          numpy_array<std::int64_t>(std::move(references), {count}),
                          fields.to_python({count, rows, columns}, settings_));
  }

  [[nodiscard]] std::vector<std::string> warnings() {
    const std::lock_guard lock(warnings_mutex_);
    return warnings_;
  }

  /// Ends the reading. A call that waits on another thread then returns as if the film had ended.
  void close() {
    if (!process_.is_current()) return;
    const py::gil_scoped_release released;
    stop_all();
    const std::lock_guard lock(mutex_);
    motion_.reset();
  }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> begin() {
    process_.require("the motion of a film");
    std::unique_lock<std::mutex> lock;
    {
      const py::gil_scoped_release released;
      lock = std::unique_lock(mutex_);
    }
    if (!motion_) throw Error(ErrorKind::usage, "C63-SETTING", path_ + ": the film was closed");
    return lock;
  }

  void open(SourceOptions film, std::string backend, std::optional<int> device, bool decodes_on_gpu,
            std::optional<std::int64_t> count) {
    if (decodes_on_gpu) {
      film.device = open_film_device(device.value_or(0));
      if (backend == "auto") backend = "cuda";  // the GPU that decodes also searches
      settings_.searches_on_device = backend == "cuda" && !pictures_;
    }
    auto source = tools::open_video(film);
    format_ = source->format();
    if (settings_.first_index != 0 || count) source = clip_frames(std::move(source), settings_.first_index, count.value_or(-1));
    expected_ = source->expected_frame_count();
    const auto cpu_ms = cpu_ms_to_search(format_.width, format_.height, expected_, settings_.threads);
    settings_.pair_search = select_pair_search(backend, device, cpu_ms, settings_.search);
    motion_ = std::make_unique<FilmMotion>(std::move(source), film.details, settings_);
  }

  void stop_all() {
    stopped_ = true;
    stop_.request_stop();
  }

  /// Waits for the next frame. Throws Error (input, C63-NO-FRAMES) if there was none at all.
  const FilmFrame* take() {
    const FilmFrame* const frame = motion_->next();
    if (frame == nullptr && frames_ == 0 && !stopped_) throw Error(ErrorKind::input, "C63-NO-FRAMES", "no frame", {.file = path_});
    return frame;
  }

  OwnProcess process_;
  std::string path_;
  std::stop_source stop_;
  std::atomic<bool> stopped_ = false;
  std::mutex warnings_mutex_;
  std::vector<std::string> warnings_;
  FilmSettings settings_;
  bool pictures_ = false;
  VideoFormat format_;
  std::optional<std::int64_t> expected_;
  std::int64_t frames_ = 0;  ///< that were returned
  std::mutex mutex_;         ///< lets one call at a time use motion_
  std::unique_ptr<FilmMotion> motion_;
};

}  // namespace

void add_film_motion(py::module_& module) {
  using namespace py::literals;
  py::class_<MotionReader, OwnProcessPtr<MotionReader>>(module, "MotionReader")
      .def(py::init<std::string, py::dict>(), "path"_a, "arguments"_a)
      .def("about", &MotionReader::about)
      .def("next", &MotionReader::next)
      .def("read", &MotionReader::read, "progress"_a)
      .def_property_readonly("warnings",
                             [](MotionReader& reader) {
                               py::list lines;
                               for (const std::string& line : reader.warnings()) lines.append(text_of(line));
                               return lines;
                             })
      .def("close", &MotionReader::close);
}

}  // namespace c63::python
