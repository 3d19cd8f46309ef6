// The part of c63filter that filters video.
#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "c63/error.h"
#include "common/outputs.h"
#include "common/report.h"
#include "common/text.h"
#include "common/values.h"
#include "common/video_input.h"
#include "filter/filter_run.h"
#include "files/frame_writer.h"
#include "files/output_file.h"
#include "io/input_file.h"
#include "pictures/picture_file.h"
#include "common/prefilter_source.h"

namespace c63::tools {
namespace {

/// The video that is read, and what all commands do with it.
class VideoRun {
 public:
  VideoRun(const Session& session, const FilterOptions& o)
      : session_(session), options_(o), source_(open(session, o)), format_(source_->format()),
        frame_(frame_bytes(format_.width, format_.height)) {}

  [[nodiscard]] const VideoFormat& format() const { return format_; }
  [[nodiscard]] ConstPlaneView luma() const { return {frame_.data(), format_.width, format_.height, format_.width}; }
  [[nodiscard]] std::span<const std::uint8_t> frame() const { return frame_; }
  [[nodiscard]] FrameSource& source() { return *source_; }

  /// Calls `each(index)` for each frame in order, and returns their number. An error that is thrown names its frame.
  std::int64_t for_all(const std::function<void(std::int64_t)>& each) {
    const auto progress = session_.progress(source_->expected_frame_count(), format_.rate.value());
    std::int64_t index = 0;
    for (; !session_.stop.stop_requested() && source_->read(index, frame_); ++index) {
      try {
        each(index);
      } catch (const Error& error) {
        throw error.at({.frame = index});
      }
      progress->advance(frame_.size());
    }
    progress->finish();
    stopped_ = session_.stop.stop_requested();
    if (stopped_) session_.log->info("{}", stopped_text(index, source_->frame_count()));
    if (index == 0 && !session_.stop.stop_requested()) {
      throw Error(ErrorKind::input, "C63-VIDEO-EMPTY", "the video has no frames");
    }
    return index;
  }

  /// Completes an output. If a signal stopped for_all(), an older file stays and the new part gets another name. With
  /// --keep-partial, or if the input is live, the new part replaces the older file.
  template <typename Output>
  void commit(Output& output) {
    if (!stopped_) return output.commit();
    (void)commit_stopped(output, options_.output, options_.keep_partial || source_->live(), *session_.log);
  }

 private:
  static std::unique_ptr<FrameSource> open(const Session& session, const FilterOptions& o) {
    SourceOptions source = o.source;
    source.path = o.input;
    source.warn = [&session, &o](const std::string& text) { session.log->warn("{}: {}", o.input, text); };
    return open_video(source);
  }

  const Session& session_;
  const FilterOptions& options_;
  std::unique_ptr<FrameSource> source_;
  VideoFormat format_;
  std::vector<std::uint8_t> frame_;
  bool stopped_ = false;
};

/// Returns the bytes that a command needs for pictures of this format.
std::uint64_t memory_of(const FilterOptions& o, const VideoFormat& format) {
  const std::uint64_t frame = frame_bytes(format.width, format.height);
  const std::uint64_t luma = plane_bytes(format.width, format.height, 0);
  const std::uint64_t engines = o.compare ? 2 : 1;
  switch (o.command) {
    case FilterCommand::mean:
    case FilterCommand::convolve: return frame * (1 + engines);
    case FilterCommand::reduce: return frame + luma * sizeof(double);
    case FilterCommand::shift: return 2 * frame;
    case FilterCommand::whiten: {
      // Each engine keeps a history of frames, and if it replaces outliers, a copy of the history. Both also use planes
      // of floats.
      const std::uint64_t copies = o.whitening.reject ? 2 : 1;
      const auto history = static_cast<std::uint64_t>(std::max(o.whitening.memory, 0)) * copies + 1;
      return frame * 3 + luma * (engines * history + (2 + engines) * sizeof(float));
    }
    default: return frame;
  }
}

ByteKernel kernel_of(const FilterOptions& o) {
  if (o.command == FilterCommand::mean) return mean_kernel(o.width);
  if (o.kernel.empty()) throw Error(ErrorKind::usage, "C63-USAGE", "a convolution needs --kernel: mean:K or gauss:S");
  const Prefilter named = prefilter_from(o.kernel);
  if (named.kind == Prefilter::Kind::temporal) {
    throw Error(ErrorKind::usage, "C63-USAGE", "'" + o.kernel + "' is not a kernel for video: give mean:K or gauss:S");
  }
  return named.kind == Prefilter::Kind::mean ? mean_kernel(named.size) : gauss_kernel(named.sigma);
}

void convolve_video(VideoRun& run, const FilterOptions& o, FilterEngines& engines) {
  const ByteKernel kernel = kernel_of(o);
  const VideoFormat size = run.format();
  const auto writer = open_frame_writer(o.output, size.rate, o.durability);
  std::vector<std::uint8_t> out(run.frame().size());
  run.for_all([&](std::int64_t) {
    engines.run(out, [&](FilterEngine& engine, std::vector<std::uint8_t>& result) {
      const auto from = split_planes(run.frame(), size.width, size.height);
      const auto to = split_planes(std::span<std::uint8_t>(result), size.width, size.height);
      FilterTiming timing;
      for (std::size_t plane = 0; plane < 3; ++plane) {
        if (plane > 0 && (size.width % 2 != 0 || size.height % 2 != 0)) {  // its rows have no fixed length, so it stays as it is
          std::ranges::copy(from[plane], to[plane].begin());
          continue;
        }
        const int width = plane == 0 ? size.width : size.width / 2;
        const int height = plane == 0 ? size.height : size.height / 2;
        timing += engine.convolve(ConstPlaneView{from[plane].data(), width, height, width}, kernel,
                                  PlaneView{to[plane].data(), width, height, width});
      }
      return timing;
    });
    writer->write(size.width, size.height, out);
  });
  run.commit(*writer);
}

void count_video(VideoRun& run, const FilterOptions& o, FilterEngines& engines) {
  const BinMap map = bin_map_of(o);
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(map.bins));
  std::vector<double> totals(counts.size());
  const auto luma_bytes = plane_bytes(run.format().width, run.format().height, 0);
  run.for_all([&](std::int64_t) {
    const auto luma = run.frame().first(luma_bytes);
    engines.run(counts, [&](FilterEngine& engine, auto& to) { return engine.histogram(luma, map, to); });
    for (std::size_t i = 0; i < counts.size(); ++i) totals[i] += static_cast<double>(counts[i]);
  });
  write_values(o, totals);
}

/// Reduces the luma of all frames to one result. If the result is a position (argmin, argmax), it is counted in luma
/// samples from the start of the video.
void reduce_video(VideoRun& run, const FilterOptions& o, FilterEngines& engines) {
  const auto luma_bytes = plane_bytes(run.format().width, run.format().height, 0);
  std::optional<double> result;
  double best = 0;  ///< the sample value at `result`
  std::vector<double> luma(luma_bytes);
  run.for_all([&](std::int64_t index) {
    std::ranges::copy(run.frame().first(luma_bytes), luma.begin());
    double value = 0;
    engines.run(value, [&](FilterEngine& engine, double& to) { return engine.reduce(luma, o.reduction, to); });
    switch (o.reduction) {
      case ReductionKind::sum: result = result.value_or(0) + value; break;
      case ReductionKind::minimum: result = std::min(result.value_or(value), value); break;
      case ReductionKind::maximum: result = std::max(result.value_or(value), value); break;
      case ReductionKind::argmin:
      case ReductionKind::argmax:
        const double there = luma[static_cast<std::size_t>(value)];
        if (!result || (o.reduction == ReductionKind::argmin ? there < best : there > best)) {
          best = there;
          result = static_cast<double>(index) * static_cast<double>(luma_bytes) + value;
        }
    }
  });
  if (result) write_values(o, std::span(&*result, 1));  // empty if a stop came before the first frame
}

void shift_video(const Session& session, VideoRun& run, const FilterOptions& o, FilterEngines& engines) {
  std::vector<std::uint8_t> reference(run.frame().size());
  if (o.reference > 0 && !run.source().seekable()) {
    throw Error(ErrorKind::usage, "C63-SHIFT-REFERENCE",
                "frames of a pipe, or of a video that FFmpeg reads, can be compared only with frame 0");
  }
  if (o.reference > 0 && !run.source().read(o.reference, reference)) {
    throw Error(ErrorKind::usage, "C63-SHIFT-REFERENCE",
                fmt::format("the video has no frame {} to compare with", o.reference));
  }
  const VideoFormat size = run.format();
  OutputFile csv(o.output.empty() ? "-" : o.output, o.durability);
  csv.write("frame,dx,dy\n");
  std::int64_t without = 0;
  run.for_all([&](std::int64_t index) {
    if (index == 0 && o.reference == 0) std::ranges::copy(run.frame(), reference.begin());
    const ConstPlaneView against{reference.data(), size.width, size.height, size.width};
    std::optional<FrameShift> shift;
    engines.run(shift, [&](FilterEngine& engine, auto& to) { return engine.shift(against, run.luma(), to); });
    without += shift ? 0 : 1;
    csv.write(shift ? fmt::format("{},{},{}\n", index, shift->dx, shift->dy) : fmt::format("{},,\n", index));
  });
  run.commit(csv);
  if (without > 0) {
    session.log->warn("{}: frame {} has no texture, or texture along one direction only: no shift can be measured",
                      o.input, o.reference);
  }
}

/// The position of the moving object of a star field in one frame, in samples.
struct ObjectTruth {
  double x = 0;
  double y = 0;
};

/// Signal-to-noise ratio of a moving object over many pictures. The background is the picture without the 13x13 samples
/// around the object. The signal is the mean of the 3x3 samples around the object, minus the mean of the background. Its
/// median over all pictures is used, because the object sometimes passes a star. The noise is the standard deviation of the
/// background.
class ObjectSnr {
 public:
  /// Adds a picture, unless the object is within 8 samples of the border.
  void add(BasicPlaneView<const float> picture, const ObjectTruth& object);
  /// Returns the ratio in dB. Returns nothing if no picture was added, or if the object is not brighter than the mean.
  [[nodiscard]] std::optional<double> decibels() const;

 private:
  std::vector<double> signals_;
  double noise_ = 0;
};

/// Reads the file of `c63gen --pattern stars --truth`, and returns the object's position by frame. Throws Error (input,
/// C63-TRUTH) if the file is anything else.
std::map<std::int64_t, ObjectTruth> read_star_truth(const std::string& path) {
  InputFile file(path);
  std::string text(std::size_t{64} << 20, '\0');
  text.resize(file.read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  std::istringstream lines(std::move(text));
  std::string line;
  if (!std::getline(lines, line) || line != "frame,shift_x,shift_y,object_x,object_y,object_peak") {
    throw Error(ErrorKind::input, "C63-TRUTH",
                "this is not a file from c63gen --pattern stars --truth: its first line is different", {.file = path});
  }
  std::map<std::int64_t, ObjectTruth> truth;
  for (int number = 2; std::getline(lines, line); ++number) {
    std::istringstream in(line + ',');
    std::array<double, 6> values{};
    bool good = true;
    for (double& value : values) {
      std::string field;
      const auto read = std::getline(in, field, ',') ? parse<double>(field, -1e9, 1e9) : std::nullopt;
      value = read.value_or(0);
      good = good && read;
    }
    if (!good || in.peek() != EOF) {
      throw Error(ErrorKind::input, "C63-TRUTH", "line " + std::to_string(number) + " is not six numbers", {.file = path});
    }
    truth[std::llround(values[0])] = {values[3], values[4]};
  }
  return truth;
}

void ObjectSnr::add(BasicPlaneView<const float> picture, const ObjectTruth& object) {
  constexpr int kBorder = 8;
  const auto at_x = static_cast<int>(std::lround(object.x));
  const auto at_y = static_cast<int>(std::lround(object.y));
  if (at_x < kBorder || at_y < kBorder || at_x >= picture.width - kBorder || at_y >= picture.height - kBorder) return;
  const auto near = [&](int x, int y) { return std::abs(x - at_x) <= 6 && std::abs(y - at_y) <= 6; };
  double total = 0;
  double squares = 0;
  std::int64_t count = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (near(x, y)) continue;
      const double value = picture.at(x, y);
      total += value;
      squares += value * value;
      ++count;
    }
  }
  const double mean = total / static_cast<double>(count);
  double object_mean = 0;
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) object_mean += picture.at(at_x + x, at_y + y) / 9;
  }
  signals_.push_back(object_mean - mean);
  noise_ += squares / static_cast<double>(count) - mean * mean;
}

std::optional<double> ObjectSnr::decibels() const {
  if (signals_.empty()) return std::nullopt;
  std::vector<double> sorted = signals_;
  std::ranges::sort(sorted);
  const double signal = sorted[sorted.size() / 2];
  if (signal <= 0) return std::nullopt;
  return 20 * std::log10(signal) - 10 * std::log10(noise_ / static_cast<double>(sorted.size()));
}

void whiten_video(const Session& session, VideoRun& run, const FilterOptions& o, FilterEngines& engines) {
  check_whitening(o.whitening);
  if (!o.before.empty()) check_picture_name(o.before);
  if (!o.after.empty()) check_picture_name(o.after);
  const auto truth = o.truth.empty() ? std::map<std::int64_t, ObjectTruth>{} : read_star_truth(o.truth);
  const VideoFormat size = run.format();
  const auto luma_bytes = plane_bytes(size.width, size.height, 0);
  const auto require_more_than_memory = [&](std::int64_t count) {
    if (count > o.whitening.memory) return;
    throw Error(ErrorKind::input, "C63-WHITEN-MEMORY",
                fmt::format("a memory of {} frames needs a video of {} frames or more, but this one has {}",
                            o.whitening.memory, o.whitening.memory + 1, count),
                {.file = o.input});
  };
  if (const auto count = run.source().frame_count()) require_more_than_memory(*count);
  const auto writer = open_frame_writer(o.output, size.rate, o.durability);
  std::vector<float> rest(luma_bytes), plain(truth.empty() ? 0 : luma_bytes);
  std::vector<std::uint8_t> out(run.frame().size(), 128), last;
  const auto view = [&](std::vector<float>& samples) {
    return BasicPlaneView<float>{samples.data(), size.width, size.height, size.width};
  };
  ObjectSnr before, after;
  std::int64_t written = 0;
  const std::int64_t frames = run.for_all([&](std::int64_t index) {
    bool whitened = false;
    engines.run(rest, [&](FilterEngine& engine, std::vector<float>& to) {
      FilterTiming timing;
      whitened = engine.whiten(run.luma(), o.whitening, view(to), timing);
      return timing;
    });
    if (!whitened) return;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      out[i] = static_cast<std::uint8_t>(std::clamp(std::lround(128 + o.gain * rest[i]), 0L, 255L));
    }
    writer->write(size.width, size.height, out);
    ++written;
    if (!o.before.empty()) last.assign(run.frame().begin(), run.frame().end());
    const auto object = truth.find(index);
    if (object == truth.end()) return;
    std::ranges::copy(run.frame().first(luma_bytes), plain.begin());
    before.add(view(plain), object->second);
    after.add(view(rest), object->second);
  });
  if (!session.stop.stop_requested()) require_more_than_memory(frames);
  run.commit(*writer);
  session.log->info("{} read, {} whitened, the first of them frame {}", counted(frames, "frame"), written,
                    o.whitening.memory);
  if (!o.before.empty() && !last.empty()) save_picture(o.before, to_image(last, size.width, size.height, 2, run.source().full_range()), o.durability);
  if (!o.after.empty() && written > 0) save_picture(o.after, to_image(out, size.width, size.height, 2, run.source().full_range()), o.durability);
  if (const auto b = before.decibels(), a = after.decibels(); a && b) {
    session.log->info("signal-to-noise ratio of the object: {:.1f} dB before, {:.1f} dB after: {:+.1f} dB", *b, *a,
                      *a - *b);
  } else if (!o.truth.empty()) {
    session.log->warn("{}: no whitened frame contains the object", o.truth);
  }
}

}  // namespace

void filter_video(const Session& session, const FilterOptions& o, FilterEngines& engines) {
  VideoRun run(session, o);
  check_filter_memory(o, memory_of(o, run.format()));
  switch (o.command) {
    case FilterCommand::mean:
    case FilterCommand::convolve: return convolve_video(run, o, engines);
    case FilterCommand::histogram: return count_video(run, o, engines);
    case FilterCommand::reduce: return reduce_video(run, o, engines);
    case FilterCommand::shift: return shift_video(session, run, o, engines);
    case FilterCommand::whiten: return whiten_video(session, run, o, engines);
    default:
      throw Error(ErrorKind::usage, "C63-USAGE", "running sums need a signal; --signal reads the file as a signal");
  }
}

}  // namespace c63::tools
