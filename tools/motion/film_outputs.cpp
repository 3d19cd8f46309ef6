
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c63/error.h"
#include "c63/motion_search.h"
#include "common/outputs.h"
#include "files/output_file.h"
#include "motion/motion_outputs.h"
#include "motion/npz_file.h"

namespace c63::tools {
namespace {

/// CSV with a row for each luma block of a film. Frames without a reference have no rows.
class FilmCsvOutput final : public MotionOutput {
 public:
  explicit FilmCsvOutput(const MotionOptions& o) : file_(o.output, o.durability) {
    file_.add("frame,reference,x,y,mv_x,mv_y,sad{}{}{}{}\n", o.check ? ",agrees" : "", o.second ? ",second" : "",
              o.quarters ? ",sad_top_left,sad_top_right,sad_bottom_left,sad_bottom_right" : "",
              o.codec_vectors ? ",codec_x,codec_y,codec_sad" : "");
  }

  [[nodiscard]] std::uint64_t memory(int /*width*/, int /*height*/) const override { return TextFile::kMemory; }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    const FilmFrame& film = *frame.film;
    for (std::size_t i = 0; i < film.vectors.size(); ++i) {
      const auto columns = static_cast<std::size_t>(film.columns);
      const auto [vector_x, vector_y] = film.in_samples(i);
      file_.add("{},{},{},{},{},{},{}", film.index, film.reference, i % columns * 8, i / columns * 8, vector_x, vector_y, film.sads[i]);
      if (!film.agrees.empty()) file_.add(",{}", film.agrees[i]);
      if (!film.seconds.empty()) file_.add(",{}", film.seconds[i]);
      for (std::size_t q = 0; q < 4 && !film.quarters.empty(); ++q) file_.add(",{}", film.quarters[4 * i + q]);
      if (film.codec != nullptr && film.codec->inter[i] != 0) {
        const auto [x, y] = film.codec->in_samples(i);
        file_.add(",{},{},{}", x, y, film.codec->sads[i]);
      } else if (film.codec != nullptr) {
        file_.add(",,,");
      }
      file_.add("\n");
    }
    file_.flush();
  }
  void finish(const MotionSummary& /*summary*/) override { complete(file_); }

 private:
  TextFile file_;
};

/// Arrays for numpy, with a row for each frame that has a reference.
class NpzOutput final : public MotionOutput {
 public:
  explicit NpzOutput(const MotionOptions& o) : options_(o), file_(o.output, o.durability) {}

  [[nodiscard]] std::uint64_t memory(int width, int height) const override {
    return static_cast<std::uint64_t>(width + 7) / 8 * static_cast<std::uint64_t>(height + 7) / 8 * 16;
  }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    const FilmFrame& film = *frame.film;
    if (!begun_) begin(film.rows, film.columns);
    if (film.reference < 0) return;
    append(frame_, std::array{film.index});
    append(reference_, std::array{film.reference});
    if (vectors_ && film.fine.empty()) append(*vectors_, film.vectors);
    if (vectors_ && !film.fine.empty()) append(*vectors_, in_samples(film));
    if (agrees_) append(*agrees_, film.agrees);
    if (sads_) append(*sads_, film.sads);
    if (seconds_) append(*seconds_, film.seconds);
    if (quarters_) append(*quarters_, film.quarters);
    if (!codec_vectors_) return;
    std::vector<std::array<float, 2>> vectors(film.vectors.size());
    std::vector<std::uint16_t> sads(vectors.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      vectors[i] = film.codec->in_samples(i);
      sads[i] = film.codec->sad_or_none(i);
    }
    append(*codec_vectors_, vectors);
    append(*codec_sads_, sads);
  }
  void finish(const MotionSummary& /*summary*/) override { complete(file_); }

 private:
  void begin(int rows, int columns) {
    begun_ = true;
    frame_ = file_.add_array("frame", "<i8", {});
    reference_ = file_.add_array("reference", "<i8", {});
    if (options_.wants("mv")) vectors_ = file_.add_array("vectors", options_.fine() ? "<f4" : "|i1", {rows, columns, 2});
    if (options_.check) agrees_ = file_.add_array("agrees", "|u1", {rows, columns});
    if (options_.wants("sad")) sads_ = file_.add_array("sad", "<u2", {rows, columns});
    if (options_.second) seconds_ = file_.add_array("second", "<u2", {rows, columns});
    if (options_.quarters) quarters_ = file_.add_array("quarters", "<u2", {rows, columns, 4});
    if (!options_.codec_vectors) return;
    codec_vectors_ = file_.add_array("codec_vectors", "<f4", {rows, columns, 2});
    codec_sads_ = file_.add_array("codec_sad", "<u2", {rows, columns});
  }
  static std::vector<std::array<float, 2>> in_samples(const FilmFrame& film) {
    std::vector<std::array<float, 2>> vectors;
    for (std::size_t i = 0; i < film.fine.size(); ++i) vectors.push_back(film.in_samples(i));
    return vectors;
  }
  template <typename Values>
  void append(std::size_t array, const Values& values) {
    file_.append(array, std::as_bytes(std::span(values)));
  }

  const MotionOptions& options_;
  NpzFile file_;
  bool begun_ = false;
  std::size_t frame_ = 0;
  std::size_t reference_ = 0;
  std::optional<std::size_t> vectors_;
  std::optional<std::size_t> agrees_;
  std::optional<std::size_t> sads_;
  std::optional<std::size_t> seconds_;
  std::optional<std::size_t> quarters_;
  std::optional<std::size_t> codec_vectors_;
  std::optional<std::size_t> codec_sads_;
};

/// Middlebury optical-flow files: for each sample a vector to the frame's reference. If the name contains a number
/// format such as %d, each frame with a reference gets a file. Otherwise only the first of them is written. --frame writes
/// only that frame.
class FlowOutput final : public MotionOutput {
 public:
  explicit FlowOutput(const MotionOptions& o) : options_(o), name_(o.output) {}

  [[nodiscard]] std::uint64_t memory(int width, int height) const override {
    return 8 * static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
  void add(const MotionFrame& frame, const MotionTruth* /*truth*/) override {
    const bool is_wanted = options_.frame >= 0 ? frame.index == options_.frame : name_.is_numbered() || !done_;
    if (!is_wanted || frame.blocks.key) return;
    const auto width = static_cast<std::uint32_t>(frame.blocks.width);
    const auto height = static_cast<std::uint32_t>(frame.blocks.height);
    const FilmFrame& film = *frame.film;
    std::vector<float> flow;
    flow.reserve(std::size_t{2} * width * height);
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const auto v = film.in_samples(y / 8 * static_cast<std::size_t>(film.columns) + x / 8);
        flow.insert(flow.end(), v.begin(), v.end());
      }
    }
    const std::string name = name_.of(frame.index);
    check_distinct_files({{"the film", options_.input}, {"--truth", options_.truth}},
                         {{"--output", name}, {"--codec-list", options_.codec_list}});
    OutputFile file(name, options_.durability);
    file.write("PIEH");
    const std::array size{width, height};
    file.write(as_bytes_of(std::as_bytes(std::span(size))));
    file.write(as_bytes_of(std::as_bytes(std::span(flow))));
    file.commit();
    done_ = true;
  }
  void finish(const MotionSummary& /*summary*/) override {
    if (!done_ && !is_stopped())
      throw Error(ErrorKind::usage, "C63-MV-FRAME", "none of the requested frames has vectors");
  }

 private:
  static std::span<const std::uint8_t> as_bytes_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  }

  const MotionOptions& options_;
  NumberedName name_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<MotionOutput> make_film_output(const MotionOptions& o) {
  if (o.format == "csv") return std::make_unique<FilmCsvOutput>(o);
  if (o.format == "npz") return std::make_unique<NpzOutput>(o);
  if (o.format == "flo") return std::make_unique<FlowOutput>(o);
  return nullptr;
}

}  // namespace c63::tools
