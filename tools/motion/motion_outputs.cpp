#include "motion/motion_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "c63/error.h"
#include "common/outputs.h"
#include "common/report.h"
#include "motion/motion_page.h"
#include "pictures/picture_file.h"

namespace c63::tools {
namespace {

class YuviewOutput final : public MotionOutput {
 public:
  YuviewOutput(const MotionOptions& o, std::optional<VideoFormat> film) : options_(o), film_(film) {}

  [[nodiscard]] std::uint64_t memory(int /*width*/, int /*height*/) const override { return TextFile::kMemory; }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    if (!writer_) {
      BlockTypes types{options_.wants("mv"), options_.wants("sad"), options_.wants("bits")};
      types.film = film_.has_value();
      types.codec_vectors = frame.codec() != nullptr;
      const VideoFormat format{frame.blocks.width, frame.blocks.height, FrameRate()};
      writer_.emplace(options_.output, options_.input, film_.value_or(format), types,
                      options_.durability);
    }
    writer_->add(frame.index, frame.blocks, frame.sads[0], frame.codec());
  }
  void finish(const MotionSummary& /*summary*/) override {
    if (writer_) complete(*writer_);
  }

 private:
  const MotionOptions& options_;
  std::optional<VideoFormat> film_;
  std::optional<YuviewWriter> writer_;
};

class CsvOutput final : public MotionOutput {
 public:
  explicit CsvOutput(const MotionOptions& o) : file_(o.output, o.durability) {
    file_.add("frame,plane,x,y,inter,mv_x,mv_y,sad,vector_bits,coefficient_bits\n");
  }

  [[nodiscard]] std::uint64_t memory(int /*width*/, int /*height*/) const override { return TextFile::kMemory; }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    for (std::size_t p = 0; p < 3; ++p) {
      const PlaneBlocks& plane = frame.blocks.planes[p];
      for (std::size_t i = 0; i < plane.vectors.size(); ++i) {
        const auto columns = static_cast<std::size_t>(plane.columns);
        file_.add("{},{},{},{},{},{},{},", frame.index, "YUV"[p], i % columns * 8, i / columns * 8, plane.inter[i],
                  plane.vectors[i].x, plane.vectors[i].y);
        if (plane.inter[i] != 0) file_.add("{}", frame.sads[p][i]);
        file_.add(",{},{}\n", plane.motion_bits[i], plane.coefficient_bits[i]);
      }
    }
    if (!frame.blocks.repeat) file_.flush();
  }
  void finish(const MotionSummary& /*summary*/) override { complete(file_); }

 private:
  TextFile file_;
};

/// Frames are written as they come, so the summary is the last member.
class JsonOutput final : public MotionOutput {
 public:
  explicit JsonOutput(const MotionOptions& o) : options_(o), file_(o.output, o.durability) {
    nlohmann::ordered_json json = environment_json("c63mv");
    json["file"] = options_.input;
    file_.add("{{\n{},\n  \"frames\": [", json_members(json));
  }

  [[nodiscard]] std::uint64_t memory(int /*width*/, int /*height*/) const override { return TextFile::kMemory; }
  void add(const MotionFrame& frame, const MotionTruth* truth) override {
    file_.add("{}\n    {{\"frame\": {}", first_ ? "" : ",", frame.index);
    first_ = false;
    if (frame.blocks.repeat) {
      file_.add(", \"repeat\": true}}");
      return;
    }
    const PlaneBlocks& luma = frame.blocks.planes[0];
    file_.add(", \"key\": {}, \"columns\": {}, \"rows\": {}", frame.blocks.key, luma.columns, luma.rows);
    if (options_.wants("mv")) {
      add_numbers("inter", luma.inter);
      const bool is_fine = frame.film != nullptr && !frame.film->fine.empty();
      add_list("vectors", luma.vectors, [&](std::size_t i, const char* comma) {
        if (!is_fine) return file_.add("{}[{},{}]", comma, luma.vectors[i].x, luma.vectors[i].y);
        const auto [x, y] = frame.film->in_samples(i);
        file_.add("{}[{},{}]", comma, x, y);
      });
    }
    if (options_.wants("sad")) add_sads("sads", luma.inter, frame.sads[0]);
    if (const FilmFrame* const film = frame.film) {
      file_.add(", \"reference\": {}", film->reference);
      if (!film->agrees.empty()) add_numbers("agrees", film->agrees);
      if (!film->seconds.empty()) add_numbers("seconds", film->seconds);
      if (!film->quarters.empty()) add_numbers("quarters", film->quarters);
      if (film->codec != nullptr) add_codec(*film->codec);
    }
    if (options_.wants("bits")) {
      add_numbers("vector_bits", luma.motion_bits);
      add_numbers("coefficient_bits", luma.coefficient_bits);
    }
    if (truth != nullptr) {
      const auto errors = truth->endpoint_errors(frame.index, frame.blocks, frame.film);
      const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
      file_.add(",\n     \"mean_endpoint_error_samples\": {}",
                errors.empty() ? "null" : fmt::format("{}", sum / static_cast<double>(errors.size())));
    }
    file_.add("}}");
  }
  void finish(const MotionSummary& summary) override {
    file_.add("\n  ],\n{}\n}}\n", json_members({{"summary", summary.json()}}));
    complete(file_);
  }

 private:
  void add_codec(const CodecField& field) {
    add_list("codec_vectors", field.vectors, [&](std::size_t i, const char* comma) {
      if (field.inter[i] == 0) return file_.add("{}null", comma);
      const auto [x, y] = field.in_samples(i);
      file_.add("{}[{},{}]", comma, x, y);
    });
    add_sads("codec_sads", field.inter, field.sads);
  }

  void add_sads(const char* name, const std::vector<std::uint8_t>& inter, const std::vector<std::uint32_t>& sads) {
    add_list(name, sads, [&](std::size_t i, const char* comma) {
      if (inter[i] == 0) return file_.add("{}null", comma);
      file_.add("{}{}", comma, sads[i]);
    });
  }

  template <typename Values>
  void add_numbers(const char* name, const Values& values) {
    add_list(name, values, [&](std::size_t i, const char* comma) { file_.add("{}{}", comma, values[i]); });
  }

  /// Calls `add_one` with the number of each value, and with what comes before it.
  template <typename Values, typename AddOne>
  void add_list(const char* name, const Values& values, const AddOne& add_one) {
    file_.add(",\n     \"{}\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i) add_one(i, i == 0 ? "" : ",");
    file_.add("]");
  }

  const MotionOptions& options_;
  TextFile file_;
  bool first_ = true;
};

int scale_of(const MotionOptions& o, int width) { return o.scale > 0 ? o.scale : std::clamp(1100 / width, 1, 4); }

/// Returns how many pictures are next to each other: one for each requested type. With `codec_vectors`, type `mv` has two:
/// the second one shows the vectors of the video's own codec.
std::size_t panel_count(const MotionOptions& o) {
  return static_cast<std::size_t>(o.wants("mv")) * (o.codec_vectors ? 2 : 1) + static_cast<std::size_t>(o.wants("sad")) + static_cast<std::size_t>(o.wants("bits"));
}

/// Returns the pictures of all requested types next to each other.
Image all_panels(const MotionOptions& o, const MotionFrame& frame) {
  OverlayOptions overlay;
  overlay.background = o.overlay == "pred" ? OverlayOptions::Background::prediction : OverlayOptions::Background::reconstruction;
  overlay.scale = scale_of(o, frame.blocks.width);
  const auto [width, height] = shown_size(frame);
  Image all(static_cast<int>(panel_count(o)) * width * overlay.scale, height * overlay.scale);
  int left = 0;
  const auto add = [&](bool vectors, OverlayOptions::Heat heat) {
    overlay.vectors = vectors;
    overlay.heat = heat;
    const Image panel = motion_picture(frame, overlay);
    for (int y = 0; y < panel.height(); ++y) {
      for (int x = 0; x < panel.width(); ++x) all.set(left + x, y, panel.at(x, y));
    }
    left += panel.width();
  };
  if (o.wants("mv")) add(true, OverlayOptions::Heat::none);
  if (o.wants("mv") && frame.codec() != nullptr) {
    overlay.codec = true;
    add(true, OverlayOptions::Heat::none);
    overlay.codec = false;
  }
  if (o.wants("sad")) add(false, OverlayOptions::Heat::sad);
  if (o.wants("bits")) add(false, OverlayOptions::Heat::bits);
  return all;
}

/// Returns a side of the coded picture, which is padded to a multiple of 16.
std::uint64_t padded(int side) { return static_cast<std::uint64_t>((side + 15) / 16 * 16); }

[[noreturn]] void fail_without_frame(std::int64_t frame) {
  throw Error(ErrorKind::usage, "C63-MV-FRAME", fmt::format("there is no frame {}", frame));
}

class PictureOutput final : public MotionOutput {
 public:
  explicit PictureOutput(const MotionOptions& o) : options_(o) { check_picture_name(o.output); }

  [[nodiscard]] std::uint64_t memory(int width, int height) const override {
    const auto scale = static_cast<std::uint64_t>(scale_of(options_, width));
    const std::uint64_t panel = 3 * scale * scale * padded(width) * padded(height);
    const std::uint64_t all = panel_count(options_) * panel;
    return all + std::max(panel + padded(width) * padded(height) * 3 / 2, memory_to_save(options_.output, all));
  }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    const bool has_blocks = !frame.blocks.key && !frame.blocks.repeat;
    if (done_ || (options_.frame >= 0 ? frame.index != options_.frame : !has_blocks)) return;
    save_picture(options_.output, all_panels(options_, frame), options_.durability);
    done_ = true;
  }
  void finish(const MotionSummary& /*summary*/) override {
    if (done_ || is_stopped()) return;
    if (options_.frame >= 0) fail_without_frame(options_.frame);
    throw Error(ErrorKind::usage, "C63-MV-FRAME", "no frame has vectors; name one with --frame");
  }

 private:
  const MotionOptions& options_;
  bool done_ = false;
};

class PageOutput final : public MotionOutput {
 public:
  explicit PageOutput(const MotionOptions& o)
      : options_(o), file_(o.output, o.durability),
        page_(file_, o) {
    page_.begin_stream(o.input);
  }

  [[nodiscard]] std::uint64_t memory(int width, int height) const override {
    // The memory for the shown picture, FFmpeg's copies of it, and the coded picture as bytes and as text. Each takes
    // at most 1.5 bytes per sample.
    return padded(width) * padded(height) * 6 + TextFile::kMemory;
  }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    page_.add(frame);
  }
  void pass(const MotionFrame& frame) override { page_.add(frame); }
  void end_stream(const MotionSummary& summary, const std::string& next) override {
    end(summary);
    page_.begin_stream(next);
  }
  void finish(const MotionSummary& summary) override {
    end(summary);
    page_.finish();
    complete(file_);
  }

 private:
  void end(const MotionSummary& summary) {
    if (!page_.has_frames() && options_.frame >= 0 && !is_stopped()) fail_without_frame(options_.frame);
    page_.end_stream(summary);
  }

  const MotionOptions& options_;
  OutputFile file_;
  MotionPage page_;
};

}  // namespace

std::unique_ptr<MotionOutput> make_motion_output(const MotionOptions& o, const FrameSource* film) {
  std::optional<VideoFormat> format;
  if (film != nullptr) {
    if (auto output = make_film_output(o)) return output;
    format = film->format();
  }
  if (o.format == "yuview") return std::make_unique<YuviewOutput>(o, format);
  if (o.format == "csv") return std::make_unique<CsvOutput>(o);
  if (o.format == "json") return std::make_unique<JsonOutput>(o);
  if (o.format == "png") return std::make_unique<PictureOutput>(o);
  if (o.format == "html") return std::make_unique<PageOutput>(o);
  return nullptr;
}

}  // namespace c63::tools
