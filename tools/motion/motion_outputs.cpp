#include "motion/motion_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "c63/error.h"
#include "common/report.h"
#include "motion/motion_page.h"
#include "pictures/picture_file.h"

namespace c63::tools {
namespace {

bool wants(const MotionOptions& o, const std::string& type) {
  return std::find(o.types.begin(), o.types.end(), type) != o.types.end();
}

class YuviewOutput final : public MotionOutput {
 public:
  explicit YuviewOutput(const MotionOptions& o) : options_(o) {}

  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    if (!writer_) {
      writer_.emplace(options_.output, options_.input, VideoFormat{frame.blocks.width, frame.blocks.height, {}},
                      BlockTypes{wants(options_, "mv"), wants(options_, "sad"), wants(options_, "bits")},
                      options_.durability);
    }
    writer_->add(frame.index, frame.blocks, frame.sads[0]);
  }
  void finish(const MotionSummary& /*summary*/) override {
    if (writer_) writer_->commit();
  }

 private:
  const MotionOptions& options_;
  std::optional<YuviewWriter> writer_;
};

class CsvOutput final : public MotionOutput {
 public:
  explicit CsvOutput(const MotionOptions& o) : file_(o.output, o.durability) {
    file_.write("frame,plane,x,y,inter,mv_x,mv_y,sad,vector_bits,coefficient_bits\n");
  }

  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    std::string rows;
    auto out = std::back_inserter(rows);
    for (std::size_t p = 0; p < 3; ++p) {
      const PlaneBlocks& plane = frame.blocks.planes[p];
      for (std::size_t i = 0; i < plane.vectors.size(); ++i) {
        const auto columns = static_cast<std::size_t>(plane.columns);
        fmt::format_to(out, "{},{},{},{},{},{},{},", frame.index, "YUV"[p], i % columns * 8, i / columns * 8, plane.inter[i],
                       plane.vectors[i].x, plane.vectors[i].y);
        fmt::format_to(out, "{},{},{}\n", frame.sads[p][i], plane.motion_bits[i], plane.coefficient_bits[i]);
      }
    }
    file_.write(rows);
  }
  void finish(const MotionSummary& /*summary*/) override { file_.commit(); }

 private:
  OutputFile file_;
};

/// What an output holds until its end, about.
class HeldBytes {
 public:
  explicit HeldBytes(const MotionOptions& options) : options_(options) {}

  /// Throws Error (limit, C63-MAX-MEMORY) where that is too much.
  void add(std::size_t bytes) {
    held_ += bytes;
    if (held_ <= options_.limits.max_memory) return;
    throw Error(ErrorKind::limit, "C63-MAX-MEMORY",
                fmt::format("--format {} holds all frames, more than the limit of {} bytes; take fewer with -f, or --format "
                            "csv",
                            options_.format, options_.limits.max_memory),
                {.file = options_.input});
  }

 private:
  const MotionOptions& options_;
  std::uint64_t held_ = 0;
};

class JsonOutput final : public MotionOutput {
 public:
  explicit JsonOutput(const MotionOptions& o) : options_(o), held_(o) {}

  void add(const MotionFrame& frame, const MotionTruth* truth) override {
    if (frame.blocks.repeat) {
      frames_.push_back({{"frame", frame.index}, {"repeat", true}});
      return;
    }
    constexpr std::size_t kBytesPerBlock = 400;  // a dozen values and their text
    const PlaneBlocks& luma = frame.blocks.planes[0];
    held_.add(kBytesPerBlock * luma.vectors.size());
    nlohmann::ordered_json entry = {{"frame", frame.index}, {"key", frame.blocks.key},
                                    {"columns", luma.columns}, {"rows", luma.rows}};
    if (wants(options_, "mv")) {
      entry["inter"] = luma.inter;
      // Made before it is filled: a null that becomes an array by push_back() does not survive a failing allocation.
      nlohmann::ordered_json& vectors = entry["vectors"] = nlohmann::ordered_json::array();
      for (const MotionVector v : luma.vectors) vectors.push_back({v.x, v.y});
    }
    if (wants(options_, "sad")) entry["sads"] = frame.sads[0];
    if (wants(options_, "bits")) {
      entry["vector_bits"] = luma.motion_bits;
      entry["coefficient_bits"] = luma.coefficient_bits;
    }
    if (truth != nullptr) {
      const auto errors = truth->endpoint_errors(frame.index, frame.blocks);
      double sum = 0;
      for (const double e : errors) sum += e;
      entry["mean_endpoint_error_samples"] =
          errors.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(sum / static_cast<double>(errors.size()));
    }
    frames_.push_back(std::move(entry));
  }
  void finish(const MotionSummary& summary) override {
    nlohmann::ordered_json json = environment_json("c63mv");
    json["file"] = options_.input;
    json["summary"] = summary.json();
    json["frames"] = std::move(frames_);
    write_json(options_.output, json, options_.durability);
  }

 private:
  const MotionOptions& options_;
  HeldBytes held_;
  nlohmann::ordered_json frames_ = nlohmann::ordered_json::array();
};

int scale_of(const MotionOptions& o, const MotionFrame& frame) {
  return o.scale > 0 ? o.scale : std::clamp(1100 / frame.blocks.width, 1, 4);
}

/// One picture for each kind of heat that is asked for, at least one.
std::vector<Image> panels(const MotionOptions& o, const MotionFrame& frame) {
  OverlayOptions overlay;
  overlay.background = o.overlay == "pred" ? OverlayOptions::Background::prediction : OverlayOptions::Background::reconstruction;
  overlay.vectors = wants(o, "mv");
  overlay.scale = scale_of(o, frame);
  std::vector<Image> images;
  if (overlay.vectors) images.push_back(motion_picture(frame, overlay));
  overlay.vectors = false;
  for (const auto& [type, heat] : {std::pair("sad", OverlayOptions::Heat::sad), std::pair("bits", OverlayOptions::Heat::bits)}) {
    if (!wants(o, type)) continue;
    overlay.heat = heat;
    images.push_back(motion_picture(frame, overlay));
  }
  return images;
}

Image beside_each_other(const std::vector<Image>& images) {
  Image all(static_cast<int>(images.size()) * images[0].width(), images[0].height());
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (int y = 0; y < all.height(); ++y) {
      for (int x = 0; x < images[i].width(); ++x) all.set(static_cast<int>(i) * images[i].width() + x, y, images[i].at(x, y));
    }
  }
  return all;
}

[[noreturn]] void fail_without_frame(std::int64_t frame) {
  throw Error(ErrorKind::usage, "C63-MV-FRAME", fmt::format("there is no frame {}", frame));
}

class PictureOutput final : public MotionOutput {
 public:
  explicit PictureOutput(const MotionOptions& o) : options_(o) { check_picture_name(o.output); }

  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    const bool has_blocks = !frame.blocks.key && !frame.blocks.repeat;
    if (done_ || (options_.frame >= 0 ? frame.index != options_.frame : !has_blocks)) return;
    save_picture(options_.output, beside_each_other(panels(options_, frame)), options_.durability);
    done_ = true;
  }
  void finish(const MotionSummary& /*summary*/) override {
    if (done_) return;
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
        page_(file_, o.beside.empty() ? o.input : o.input + " and " + o.beside, o.types, o.overlay == "pred") {
    page_.begin_stream(o.input);
  }

  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    if (options_.frame < 0 || frame.index == options_.frame) page_.add(frame);
  }
  void end_stream(const MotionSummary& summary, const std::string& next) override {
    end(summary);
    page_.begin_stream(next);
  }
  void finish(const MotionSummary& summary) override {
    end(summary);
    page_.finish();
    file_.commit();
  }

 private:
  void end(const MotionSummary& summary) {
    if (!page_.has_frames() && options_.frame >= 0) fail_without_frame(options_.frame);
    page_.end_stream(summary);
  }

  const MotionOptions& options_;
  OutputFile file_;
  MotionPage page_;
};

}  // namespace

std::unique_ptr<MotionOutput> make_motion_output(const MotionOptions& o) {
  if (o.format == "yuview") return std::make_unique<YuviewOutput>(o);
  if (o.format == "csv") return std::make_unique<CsvOutput>(o);
  if (o.format == "json") return std::make_unique<JsonOutput>(o);
  if (o.format == "png") return std::make_unique<PictureOutput>(o);
  if (o.format == "html") return std::make_unique<PageOutput>(o);
  return nullptr;
}

}  // namespace c63::tools
