#include <fmt/format.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "c63/decoder.h"
#include "c63/error.h"
#include "common/digest.h"
#include "common/errors.h"
#include "common/json.h"
#include "common/process.h"
#include "common/text.h"
#include "common/video_input.h"
#include "compare/ab_result.h"
#include "compare/commands.h"
#include "files/frame_writer.h"
#include "files/scratch_folder.h"
#include "io/input_file.h"
#include "motion/motion_page.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;

std::string program_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : self.parent_path().string();
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\n\r ");
  if (end == std::string::npos) return "(it printed nothing)";
  const auto start = text.find_last_of("\n\r", end);
  return text.substr(start == std::string::npos ? 0 : start + 1, end - (start == std::string::npos ? 0 : start + 1) + 1);
}

std::string digest_of(const std::string& path) {
  InputFile file(path);
  Md5 md5;
  std::vector<std::uint8_t> buffer(std::size_t{1} << 18);
  while (const std::size_t n = file.read(buffer)) md5.add(std::span(buffer).first(n));
  return md5.finish();
}

bool is_raw(const std::string& path) {
  return path.ends_with(".yuv") || path.ends_with(".raw") || path.ends_with(".i420") || path.ends_with(".yuv420p");
}

/// Runs the sides of a comparison in turns and measures them.
class AbBench {
 public:
  AbBench(const Session& session, const AbOptions& options, AbResult& result);

  /// Asks each external encoder that version_question() knows for its version.
  void ask_versions();
  /// Converts each input to raw frames, so that all sides read the same. A raw file that is used as a whole is not
  /// copied. After a stop request some may be missing.
  void prepare_inputs();
  /// Fills result.points. After a stop request they contain only finished rounds, and the result is marked as stopped.
  void run_points();
  /// Fills result.frames from the streams that run_points() has kept. After a drop request some may be missing.
  void keep_frames();

 private:
  struct Work {
    std::size_t point;   ///< index in result.points
    std::string output;  ///< path of its coded stream
  };

  void prepare_input(const std::string& path);
  void keep_frames_of(std::size_t input);
  void run_row(std::size_t input, std::size_t row);
  /// Returns false if a stop request ended the run.
  [[nodiscard]] bool run_once(Work& work, bool measured);
  /// Keeps only the first `rounds` rounds of the points from `first_point` on, because not all sides have run the later
  /// rounds. If `rounds` is 0, removes these points.
  void keep_finished_rounds(std::size_t first_point, std::size_t rounds);
  [[nodiscard]] std::string command_of(const AbPoint& point, const std::string& output, std::string& stdin_path,
                                       std::string& stdout_path) const;
  /// Reads the bits of frames from the index of a c63 stream.
  void read_frame_bits(AbPoint& point, const std::string& file) const;
  /// Asks ffprobe for the bits of another encoder's frames.
  void ask_frame_bits(AbPoint& point, const std::string& file) const;
  void take_encoder_report(AbPoint& point, bool measured) const;
  void take_result(Work& work);
  [[nodiscard]] std::string result_file(const std::string& output) const;
  void keep(const AbPoint& point, const std::string& file) const;

  const Session& session_;
  const AbOptions& options_;
  AbResult& result_;
  ScratchFolder folder_{"", "c63cmp"};
  std::string encoder_;
  std::unique_ptr<Progress> progress_;          ///< counts encoded frames, also in rounds that are not measured
  std::map<std::size_t, std::string> streams_;  ///< coded streams that are kept for the report, by index in result.points
};

AbBench::AbBench(const Session& session, const AbOptions& options, AbResult& result)
    : session_(session), options_(options), result_(result),
      encoder_(options.encoder.empty() ? program_folder() + "/c63enc" : options.encoder) {
  for (Configuration& c : result.configurations) {
    if (c.external) continue;
    if (c.program.empty()) c.program = encoder_;
    if (access(c.program.c_str(), X_OK) == 0 && !fs::is_directory(c.program)) continue;
    throw Error(ErrorKind::usage, "C63-AB-ENCODER", "cannot find c63enc; name it with --c63enc", {.file = c.program});
  }
}

void AbBench::ask_versions() {
  for (Configuration& configuration : result_.configurations) {
    const std::string question = configuration.external ? version_question(configuration.text) : std::string();
    if (question.empty() || session_.stop.stop_requested()) continue;
    const std::string answer = folder_.file("version");
    const ProcessResult process =
        run_process(question + " 2>&1", "", answer, folder_.path(), {.stop = session_.stop, .drop = session_.drop});
    std::ifstream file(answer);
    if (process.exit_code == 0) std::getline(file, configuration.version);
  }
}

void AbBench::ask_frame_bits(AbPoint& point, const std::string& file) const {
  const std::string answer = folder_.file("frames.txt");
  // Asks ffprobe for frames, not for packets. Frames come in display order. Packets of raw streams have no times, so
  // they could not be sorted.
  const std::string question =
      "ffprobe -v error -select_streams v:0 -show_entries frame=key_frame,pkt_size -of default=noprint_wrappers=1 " +
      shell_quoted(file);
  const ProcessResult process =
      run_process(question, "", answer, folder_.path(), {.stop = session_.stop, .drop = session_.drop});
  if (process.exit_code != 0) {
    point.why_no_bits = process.exit_code == 127 ? "ffprobe, which could find them, is not installed"
                                                 : "ffprobe cannot read the stream";
    return;
  }
  std::ifstream lines(answer);
  const std::string key = "key_frame=";
  const std::string size = "pkt_size=";
  for (std::string line; std::getline(lines, line);) {
    std::uint64_t value = 0;
    const auto number = [&](std::size_t at) {
      return std::from_chars(line.data() + at, line.data() + line.size(), value).ec == std::errc();
    };
    if (line.starts_with(key) && number(key.size())) point.frame_keys.push_back(value != 0 ? 1 : 0);
    if (line.starts_with(size) && number(size.size())) point.frame_bits.push_back(8 * value);
  }
  const auto frames = static_cast<std::size_t>(result_.inputs[point.input].frames);
  if (point.frame_bits.size() != frames || point.frame_keys.size() != frames) {
    point.why_no_bits = fmt::format("ffprobe found the sizes of only {} of {}", point.frame_bits.size(),
                                    counted(result_.inputs[point.input].frames, "frame"));
    point.frame_bits.clear();
    point.frame_keys.clear();
  }
}

void AbBench::read_frame_bits(AbPoint& point, const std::string& file) const {
  SeekableDecoder decoder(file, DecoderSettings{.execution = {.limits = options_.limits}});
  for (std::int64_t i = 0; i < result_.inputs[point.input].frames; ++i) {
    point.frame_bits.push_back(8 * decoder.entry(i).bytes);
    point.frame_keys.push_back(decoder.entry(i).key ? 1 : 0);
  }
}

void AbBench::prepare_inputs() {
  if (!options_.keep.empty()) {
    std::error_code fault;
    fs::create_directories(options_.keep, fault);
    if (fault) {
      throw Error(ErrorKind::output, "C63-WRITE-OPEN", "cannot make the folder: " + fault.message(), {.file = options_.keep});
    }
  }
  for (const std::string& path : options_.inputs) {
    if (!session_.stop.stop_requested()) prepare_input(path);
  }
}

void AbBench::prepare_input(const std::string& path) {
  const auto source = clip_frames(
      open_video({.path = path,
                  .width = options_.width,
                  .height = options_.height,
                  .rate = options_.rate,
                  .limits = options_.limits,
                  .stop = session_.stop,
                  .warn = [this, path](const std::string& text) { session_.log->warn("{}: {}", path, text); }}),
      options_.first_frame, options_.max_frames > 0 ? options_.max_frames : -1);
  AbInput input{path == "-" ? "stdin" : path, path, source->format(), 0, source->full_range()};
  const bool as_it_is = is_raw(path) && options_.first_frame == 0 && options_.max_frames == 0 && source->frame_count();
  if (as_it_is) {
    input.frames = *source->frame_count();
  } else {
    input.path = folder_.file(fmt::format("input{}.yuv", result_.inputs.size()));
    const auto writer = open_frame_writer(input.path);
    std::vector<std::uint8_t> frame(frame_bytes(input.format.width, input.format.height));
    for (; !session_.stop.stop_requested() && source->read(input.frames, frame); ++input.frames) {
      writer->write(input.format.width, input.format.height, frame);
    }
    if (session_.stop.stop_requested()) return;
    writer->commit();
  }
  if (input.frames == 0)
    throw Error(ErrorKind::input, "C63-NO-FRAMES", "the input has no whole frame", {.file = input.name});
  session_.log->info("{}: {}x{}, {} at {:.6g} fps", input.name, input.format.width, input.format.height,
                     counted(input.frames, "frame"), input.format.rate.value());
  result_.inputs.push_back(std::move(input));
}

std::string AbBench::command_of(const AbPoint& point, const std::string& output, std::string& stdin_path,
                                std::string& stdout_path) const {
  const AbInput& input = result_.inputs[point.input];
  const Configuration& configuration = result_.configurations[point.configuration];
  const std::string rate = fmt::format("{}/{}", input.format.rate.numerator, input.format.rate.denominator);
  const std::string text = fill_in(configuration.text, '{', '}', {{"in", shell_quoted(input.path)},
                                                        {"out", shell_quoted(output)},
                                                        {"qp", point.quantizer},
                                                        {"w", std::to_string(input.format.width)},
                                                        {"h", std::to_string(input.format.height)},
                                                        {"fps", rate},
                                                        {"frames", std::to_string(input.frames)}});
  if (configuration.external) {
    if (configuration.text.find("{in}") == std::string::npos) stdin_path = input.path;
    if (configuration.text.find("{out}") == std::string::npos) stdout_path = output;
    return text;
  }
  // The user's options come last, so that they can override ours, such as --no-psnr.
  return fmt::format("{} --input-format raw --input-res {}x{} --fps {} --progress none --quiet --no-psnr --max-memory {}{} --json {} -i {} -o {} {}",
                     shell_quoted(configuration.program), input.format.width, input.format.height, rate, options_.limits.max_memory,
                     point.quantizer.empty() ? "" : " --qp " + shell_quoted(point.quantizer), shell_quoted(folder_.file("run.json")), shell_quoted(input.path), shell_quoted(output), text);
}

std::string AbBench::result_file(const std::string& output) const {
  // Some encoders need a file name with an extension, so the user may have written {out}.mp4 in the command.
  if (fs::exists(output)) return output;
  const fs::path wanted(output);
  for (const auto& entry : fs::directory_iterator(wanted.parent_path())) {
    if (entry.path().filename().string().starts_with(wanted.filename().string() + ".")) return entry.path().string();
  }
  return {};
}

void AbBench::take_encoder_report(AbPoint& point, bool measured) const {
  std::ifstream file(folder_.file("run.json"));
  const auto json = json_if_valid(std::string(std::istreambuf_iterator<char>(file), {}));
  if (json.is_discarded()) {
    throw Error(ErrorKind::usage, "C63-AB-ENCODER", "it wrote no report; is it a c63enc?",
                {.file = result_.configurations[point.configuration].program});
  }
  const auto& result = json.at("result");
  point.backend = result.at("backend");
  point.start_up_s = result.at("start_up_s");
  point.stages = json.at("stages");
  point.coding = json.at("settings");
  for (const char* how : {"threads", "lanes", "simd", "max_pixels", "max_memory_bytes"}) point.coding.erase(how);
  // All built-in search methods except "zero" find the same vectors, so they count as the same setting.
  if (point.coding.at("search_method") != "zero") point.coding["search_method"] = "full";
  if (measured) point.encode_s.push_back(result.at("elapsed_s"));
}

void AbBench::keep(const AbPoint& point, const std::string& file) const {
  if (options_.keep.empty()) return;
  const std::string stem = fs::path(result_.inputs[point.input].name).stem().string();
  const std::string extension = point.is_c63 ? ".c63" : fs::path(file).extension().string();
  const std::string quantizer = point.quantizer.empty() ? "" : "-qp" + point.quantizer;
  std::string name = fmt::format("{}-{}{}{}", stem, result_.configurations[point.configuration].name, quantizer, extension);
  std::ranges::replace(name, '/', '_');
  const fs::path target = fs::path(options_.keep) / name;
  std::error_code fault;
  fs::copy_file(file, target, fs::copy_options::overwrite_existing, fault);
  if (fault) throw Error(ErrorKind::output, "C63-WRITE-FAILED", fault.message(), {.file = target.string()});
}

void AbBench::take_result(Work& work) {
  AbPoint& point = result_.points[work.point];
  const Configuration& configuration = result_.configurations[point.configuration];
  const AbInput& input = result_.inputs[point.input];
  const std::string file = result_file(work.output);
  if (file.empty()) {
    throw Error(ErrorKind::usage, "C63-AB-OUTPUT",
                fmt::format("{} wrote no file; it must write to {{out}} or to standard output", configuration.name));
  }
  const std::string digest = digest_of(file);
  if (!point.digest.empty()) {
    point.reproducible = point.reproducible && digest == point.digest;
    return;
  }
  point.digest = digest;
  point.bytes = fs::file_size(file);
  point.kilobits_per_s = static_cast<double>(point.bytes) * 8 / 1000 * input.format.rate.value() / static_cast<double>(input.frames);
  const auto reference = open_frame_source({.path = input.path, .format = SourceFormat::raw, .width = input.format.width,
                                            .height = input.format.height, .limits = options_.limits});
  point.is_c63 = is_stream_file(file);  // whoever has written it
  SourceOptions coded{.path = file, .limits = options_.limits};
  if (!point.is_c63) coded.format = SourceFormat::av;
  point.quality = compare_videos(*reference, input.name, *open_video(coded), configuration.name, {.ssim = options_.ssim});
  point.is_c63 ? read_frame_bits(point, file) : ask_frame_bits(point, file);
  keep(point, file);
  streams_[work.point] = folder_.file(fmt::format("stream{}{}", work.point, fs::path(file).extension().string()));
  fs::copy_file(file, streams_[work.point]);
}

bool AbBench::run_once(Work& work, bool measured) {
  AbPoint& point = result_.points[work.point];
  const Configuration& configuration = result_.configurations[point.configuration];
  if (const std::string old = result_file(work.output); !old.empty()) fs::remove(old);
  std::string stdin_path;
  std::string stdout_path;
  const std::string command = command_of(point, work.output, stdin_path, stdout_path);
  session_.log->debug("{}", command);
  const ProcessResult process =
      run_process(command, stdin_path, stdout_path, folder_.path(), {.stop = session_.stop, .drop = session_.drop});
  if (session_.stop.stop_requested()) return false;
  if (process.exit_code != 0) {
    // c63enc's exit codes tell the kind. Of other programs we only know that they failed.
    throw Error(configuration.external ? ErrorKind::input : kind_of_exit(process.exit_code, ErrorKind::input), "C63-AB-COMMAND",
                fmt::format("{} ended with {}: {} (command: {})", configuration.name, process.exit_code,
                            last_line(process.error_output), command));
  }
  if (measured) {
    point.process_s.push_back(process.wall_s);
    point.cpu_s.push_back(process.cpu_s);
    if (configuration.external) point.encode_s.push_back(process.wall_s);
  }
  if (!configuration.external) take_encoder_report(point, measured);
  if (measured) take_result(work);
  return true;
}

void AbBench::run_row(std::size_t input, std::size_t row) {
  std::vector<Work> works;
  const std::size_t first_point = result_.points.size();
  for (std::size_t c = 0; c < result_.configurations.size(); ++c) {
    const Configuration& configuration = result_.configurations[c];
    if (row >= configuration.quantizers.size()) continue;
    AbPoint point;
    point.input = input;
    point.configuration = c;
    point.quantizer = configuration.quantizers[row];
    const std::string output = folder_.file(fmt::format("out{}{}", c, configuration.external ? "" : ".c63"));
    std::string unused_in;
    std::string unused_out;
    point.command = command_of(point, output, unused_in, unused_out);
    for (auto at = point.command.find(folder_.path()); at != std::string::npos; at = point.command.find(folder_.path())) {
      point.command.replace(at, folder_.path().size(), "TMP");
    }
    result_.points.push_back(std::move(point));
    works.push_back({result_.points.size() - 1, output});
  }
  for (int round = -options_.warmup; round < options_.repeat; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      // Each round begins with the next side. So no side is always the first, or always after the same other side.
      if (!run_once(works[(i + static_cast<std::size_t>(round + options_.warmup)) % works.size()], round >= 0)) {
        return keep_finished_rounds(first_point, static_cast<std::size_t>(std::max(round, 0)));
      }
      progress_->advance(0, result_.inputs[input].frames);
    }
  }
  for (const Work& work : works) {
    const AbPoint& point = result_.points[work.point];
    const Spread speed = result_.frames_per_s(point);
    session_.log->info("{}: {}{}: {:.1f} fps ({:.1f} to {:.1f}), {:.2f} kb/s, PSNR Y {:.3f} all {:.3f}",
                       result_.inputs[input].name, result_.configurations[point.configuration].name,
                       point.quantizer.empty() ? "" : " qp " + point.quantizer, speed.median, speed.low, speed.high,
                       point.kilobits_per_s, point.quality.psnr_of_video(0), point.quality.psnr_of_video(3));
  }
}

void AbBench::keep_finished_rounds(std::size_t first_point, std::size_t rounds) {
  if (rounds == 0) result_.points.resize(first_point);
  for (std::size_t i = first_point; i < result_.points.size(); ++i) {
    AbPoint& point = result_.points[i];
    for (auto* const times : {&point.encode_s, &point.process_s, &point.cpu_s}) times->resize(std::min(times->size(), rounds));
  }
}

void AbBench::run_points() {
  std::size_t rows = 0;
  for (const Configuration& c : result_.configurations) rows = std::max(rows, c.quantizers.size());
  std::int64_t frames = 0;
  for (const AbInput& input : result_.inputs) {
    for (const Configuration& c : result_.configurations) {
      frames += static_cast<std::int64_t>(c.quantizers.size()) * (options_.warmup + options_.repeat) * input.frames;
    }
  }
  progress_ = session_.progress(frames, result_.inputs.empty() ? 25 : result_.inputs.front().format.rate.value());
  for (std::size_t input = 0; input < result_.inputs.size(); ++input) {
    for (std::size_t row = 0; row < rows && !session_.stop.stop_requested(); ++row) run_row(input, row);
  }
  progress_->finish();
  result_.stopped = session_.stop.stop_requested();
  // Inputs that no side has encoded are left out of the report.
  if (result_.stopped) result_.inputs.resize(result_.points.empty() ? 0 : result_.points.back().input + 1);
}

void AbBench::keep_frames() {
  for (std::size_t input = 0; input < result_.inputs.size(); ++input) {
    if (!session_.drop.stop_requested()) keep_frames_of(input);
  }
}

void AbBench::keep_frames_of(std::size_t index) {
  const AbInput& input = result_.inputs[index];
  const std::int64_t wanted = options_.picture_frame >= 0 ? options_.picture_frame : std::min<std::int64_t>(10, input.frames - 1);
  if (wanted >= input.frames) {
    session_.log->warn("{}: the report has no picture, because there is no frame {}", input.name, wanted);
    return;
  }
  std::vector<std::size_t> sides;  // points, at the middle one of their side's quantizers
  for (const auto& [number, path] : streams_) {
    if (number >= result_.points.size() || result_.points[number].input != index) continue;  // a stop has removed this point
    const auto& quantizers = result_.configurations[result_.points[number].configuration].quantizers;
    if (result_.points[number].quantizer == quantizers[quantizers.size() / 2]) sides.push_back(number);
  }
  const auto bytes_of = [&](const AbPoint& point, std::int64_t from, std::int64_t to) {
    return std::accumulate(point.frame_bits.begin() + from, point.frame_bits.begin() + to, std::uint64_t{0}) / 8;
  };
  const auto bytes = [&](std::int64_t from, std::int64_t to) {
    std::uint64_t sum = 0;
    for (const std::size_t side : sides) sum += result_.points[side].is_c63 ? bytes_of(result_.points[side], from, to) : 0;
    return sum;
  };
  // Streams that are too long for a page begin with the same key frame before the wanted frame, so that they are in step.
  // Making a page takes several times their bytes.
  const std::uint64_t most = std::min<std::uint64_t>(24'000'000, options_.limits.max_memory / 16) / result_.inputs.size();
  std::int64_t first = 0;
  std::int64_t end = input.frames;
  if (bytes(first, end) > most) {
    const auto is_key = [&](std::size_t side) {
      return !result_.points[side].is_c63 || result_.points[side].frame_keys[static_cast<std::size_t>(first)] != 0;
    };
    for (first = wanted; !std::ranges::all_of(sides, is_key); --first) {
    }
    end = wanted + 1;
    for (std::uint64_t sum = bytes(first, end); end < input.frames && sum + bytes(end, end + 1) <= most; ++end) sum += bytes(end, end + 1);
  }
  const auto add = [&](const nlohmann::ordered_json& configuration, const std::string& quantizer, const char* kind, std::string data) {
    result_.frames.push_back({{"input", index}, {"configuration", configuration}, {"quantizer", quantizer},
                              {"frame", wanted}, {"first", first}, {"full_range", input.full_range}, {kind, std::move(data)}});
  };
  const auto add_picture = [&](const nlohmann::ordered_json& configuration, const std::string& quantizer, FrameSource& source) {
    std::vector<std::uint8_t> frame(frame_bytes(input.format.width, input.format.height));
    for (std::int64_t i = source.seekable() ? wanted : 0; i <= wanted && source.read(i, frame); ++i) {
    }
    add(configuration, quantizer, "picture", packed(frame));
  };
  for (const std::size_t side : sides) {
    const AbPoint& point = result_.points[side];
    if (!point.is_c63) {
      add_picture(point.configuration, point.quantizer,
                  *open_frame_source({.path = streams_[side], .format = SourceFormat::av, .limits = options_.limits}));
      continue;
    }
    std::ifstream file(streams_[side], std::ios::binary);
    file.seekg(static_cast<std::streamoff>(bytes_of(point, 0, first)));
    std::vector<char> stream(bytes_of(point, first, end));
    file.read(stream.data(), static_cast<std::streamsize>(stream.size()));
    add(point.configuration, point.quantizer, "stream", base64({reinterpret_cast<const std::uint8_t*>(stream.data()), stream.size()}));
  }
  add_picture(nullptr, "", *open_frame_source({.path = input.path, .format = SourceFormat::raw, .width = input.format.width,
                                               .height = input.format.height, .limits = options_.limits}));
}

}  // namespace

void run_sides(const Session& session, const AbOptions& options, AbResult& result, bool with_frames) {
  AbBench bench(session, options, result);
  bench.ask_versions();
  bench.prepare_inputs();
  bench.run_points();
  if (with_frames && !result.points.empty()) bench.keep_frames();
}

}  // namespace c63::tools
