#include "motion/motion_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>

#include "c63/error.h"
#include "common/text.h"
#include "motion/overlay.h"
#include "pictures/picture_file.h"

#if defined(C63_HAVE_PAGE)
namespace c63::tools::analyzer_files {
extern const std::string_view html;  // made by the build, see tools/analyzer
}  // namespace c63::tools::analyzer_files
#endif

namespace c63::tools {

#if defined(C63_HAVE_PAGE)
std::string_view analyzer_page() { return analyzer_files::html; }
#else
std::string_view analyzer_page() { return {}; }
#endif

std::string packed(std::span<const std::uint8_t> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<std::uint8_t> to(size);
  if (compress(to.data(), &size, bytes.data(), bytes.size()) != Z_OK) throw std::bad_alloc();
  to.resize(size);
  return base64(to);
}

namespace {

constexpr std::string_view kContent = "<!--@CONTENT@-->";

template <typename T>
std::span<const std::uint8_t> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

/// Returns three values of each luma block of a film: the vector in quarters of a sample, with x = -32768 if there is
/// none, and the SAD.
std::vector<std::int16_t> film_values(const MotionFrame& frame, bool of_codec) {
  const PlaneBlocks& luma = frame.blocks.planes[0];
  const auto quarters = [](float samples) { return static_cast<std::int16_t>(std::lround(CodecField::kUnits * samples)); };
  std::vector<std::int16_t> values;
  for (std::size_t i = 0; i < luma.vectors.size(); ++i) {
    const bool inter = (of_codec ? frame.codec()->inter[i] : luma.inter[i]) != 0;
    const bool searched = !of_codec && inter;
    const auto found = searched ? frame.film->in_samples(i) : std::array<float, 2>{};
    const std::int16_t x = of_codec ? frame.codec()->vectors[i].x : quarters(found[0]);
    const std::int16_t y = of_codec ? frame.codec()->vectors[i].y : quarters(found[1]);
    const std::uint32_t sad = of_codec ? frame.codec()->sads[i] : frame.sads[0][i];
    values.insert(values.end(), {inter ? x : std::int16_t{INT16_MIN}, y, static_cast<std::int16_t>(sad)});
  }
  return values;
}

}  // namespace

MotionPage::MotionPage(OutputFile& file, const MotionOptions& options) : file_(file), options_(options) {
  if (analyzer_page().empty()) {
    throw Error(ErrorKind::usage, "C63-NO-PAGE",
                "this c63 was built without a toolchain for WebAssembly (packages clang, lld, wasi-libc, libc++-dev-wasm32), which --format html needs");
  }
  file_.write(analyzer_page().substr(0, analyzer_page().find(kContent)));
}

void MotionPage::begin_stream(const std::string& name) {
  name_ = name;
  frames_ = 0;
  ++streams_;
}

void MotionPage::add(const MotionFrame& frame) {
  const bool is_shown = frame.index >= options_.first_frame && (options_.frame < 0 || frame.index == options_.frame);
  if (is_shown && frames_++ == 0) first_index_ = frame.index;
  const auto [width, height] = shown_size(frame);
  width_ = width;
  height_ = height;
  if (frame.film != nullptr) {
    if (is_shown) add_film(frame);
    return;
  }
  const auto begin_script = [&] { file_.write(fmt::format("<script type=\"text/plain\" data-c63=\"{}\">", streams_ - 1)); };
  if (frame.index == 0) begin_script();
  std::string text;
  for (const std::uint8_t byte : frame.coded) {
    // HTML would change these; '=' announces them
    const bool is_escaped = byte == 0 || byte == '\r' || byte == '<' || byte == '=';
    if (is_escaped) text += '=';
    text += static_cast<char>(is_escaped ? byte + 64 : byte);
  }
  file_.write(text);
  if (!options_.source.empty()) {
    const std::vector<std::uint16_t> sads(frame.sads[0].begin(), frame.sads[0].end());  // a repeat has none
    file_.write(fmt::format("</script>\n<script type=\"text/plain\" data-sads=\"{}\">{}</script>\n", streams_ - 1, packed(bytes_of(sads))));
    begin_script();
  }
}

/// Adds a film's frame. The vectors of its codec, if there are any, become the same frame of a second film, which shows
/// the same picture.
void MotionPage::add_film(const MotionFrame& frame) {
  require_png();  // FFmpeg's encoders
  columns_ = frame.blocks.planes[0].columns;
  rows_ = frame.blocks.planes[0].rows;
  film_ = true;
  has_codec_ = frame.codec() != nullptr;
  for (int field = 0; field < (has_codec_ ? 2 : 1); ++field) {
    const std::vector<std::uint32_t>& sads = field == 0 ? frame.sads[0] : frame.codec()->sads;
    const std::uint64_t sad = std::accumulate(sads.begin(), sads.end(), std::uint64_t{0});
    file_.write(fmt::format("<script type=\"text/plain\" data-film=\"{}\" data-type=\"{}\" data-sad=\"{}\">", field,
                            frame.blocks.key ? "key" : "inter", sad));
    const auto& picture = options_.overlay == "pred" ? frame.prediction : frame.picture;
    file_.write(field == 1 ? std::string("=")
                           : base64(encode_jpeg(shown_samples(picture, frame), width_, height_, frame.full_range)));
    file_.write(" " + packed(bytes_of(film_values(frame, field == 1))) + "</script>\n");
  }
}

void MotionPage::end_stream(const MotionSummary& summary) {
  if (!film_) file_.write(std::string("</script>\n"));
  nlohmann::ordered_json histogram = nlohmann::ordered_json::array();
  for (const auto& [label, count] : summary.histogram()) histogram.push_back({label, count});
  const std::string& beside = options_.beside;
  nlohmann::ordered_json stream = {{"title", "Motion of " + options_.input + (beside.empty() ? "" : " and " + beside)},
                                   {"name", name_}, {"types", options_.types}, {"film", film_},
                                   {"summary", summary.text(false)}, {"histogram", histogram}};
  if (options_.frame >= 0 || options_.first_frame > 0) stream["frame"] = first_index_;
  if (options_.overlay == "pred") stream["show"] = "prediction";
  if (film_) stream.update({{"width", width_}, {"height", height_}, {"columns", columns_}, {"rows", rows_}, {"first", first_index_}});
  const auto write = [&] {
    file_.write("<script type=\"application/json\" class=\"stream\">" + embedded(stream) + "</script>\n");
  };
  if (has_codec_) stream["name"] = "exact search";
  write();
  if (!has_codec_) return;
  stream["name"] = "the codec's own vectors";
  stream["summary"] = "";
  write();
}

void MotionPage::finish() { file_.write(analyzer_page().substr(analyzer_page().find(kContent) + kContent.size())); }

}  // namespace c63::tools
