#include "motion/motion_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "c63/error.h"
#include "common/text.h"
#include "motion/overlay.h"
#include "pictures/picture_file.h"

namespace c63::tools::motion_files {
// The build makes these constants from the files in tools/motion/page.
extern const std::string_view html;
extern const std::string_view css;
extern const std::string_view js;
}  // namespace c63::tools::motion_files

namespace c63::tools {
namespace {

std::uint8_t low_byte(std::uint32_t value) { return static_cast<std::uint8_t>(value & 255); }

/// Returns the values of the luma blocks as a picture of three parts, one below the other, with a pixel per block. R,
/// G, B are: in the first, vector x + 128, vector y + 128, 255 if a vector predicts the block; in the second, SAD (high
/// byte, low byte), number of levels that are not zero; in the third, bits of coefficients (high, low), bits of the
/// vector.
Image values_of(const MotionFrame& frame) {
  const PlaneBlocks& luma = frame.blocks.planes[0];
  Image image(luma.columns, 3 * luma.rows);
  for (int row = 0; row < luma.rows; ++row) {
    for (int column = 0; column < luma.columns; ++column) {
      const auto i = static_cast<std::size_t>(row) * luma.columns + column;
      const MotionVector v = luma.vectors[i];
      const std::uint32_t sad = frame.sads[0][i];
      const std::uint32_t bits = luma.coefficient_bits[i];
      image.set(column, row, {static_cast<std::uint8_t>(v.x + 128), static_cast<std::uint8_t>(v.y + 128),
                              static_cast<std::uint8_t>(luma.inter[i] != 0 ? 255 : 0)});
      image.set(column, luma.rows + row, {low_byte(sad >> 8), low_byte(sad), luma.nonzero_levels[i]});
      image.set(column, 2 * luma.rows + row,
                {low_byte(bits >> 8), low_byte(bits), low_byte(std::min<std::uint32_t>(luma.motion_bits[i], 255))});
    }
  }
  return image;
}


/// Returns the values of a film's blocks in the same way. Vectors are in quarters of a sample, plus 32768: vector x
/// (high, low), 255 if the block has a vector; SAD (high, low), 0; vector y (high, low), 0.
Image film_values(const MotionFrame& frame, bool of_codec) {
  const PlaneBlocks& luma = frame.blocks.planes[0];
  Image image(luma.columns, 3 * luma.rows);
  for (int row = 0; row < luma.rows; ++row) {
    for (int column = 0; column < luma.columns; ++column) {
      const auto i = static_cast<std::size_t>(row * luma.columns + column);
      const auto whole = [](int samples) { return CodecField::kUnits * samples; };
      const auto x = static_cast<std::uint32_t>(32768 + (of_codec ? frame.codec->vectors[i].x : whole(luma.vectors[i].x)));
      const auto y = static_cast<std::uint32_t>(32768 + (of_codec ? frame.codec->vectors[i].y : whole(luma.vectors[i].y)));
      const std::uint32_t sad = of_codec ? frame.codec->sads[i] : frame.sads[0][i];
      const bool inter = (of_codec ? frame.codec->inter[i] : luma.inter[i]) != 0;
      image.set(column, row, {low_byte(x >> 8), low_byte(x), static_cast<std::uint8_t>(inter ? 255 : 0)});
      image.set(column, luma.rows + row, {low_byte(sad >> 8), low_byte(sad), 0});
      image.set(column, 2 * luma.rows + row, {low_byte(y >> 8), low_byte(y), 0});
    }
  }
  return image;
}

}  // namespace

MotionPage::MotionPage(OutputFile& file, const std::string& title, const std::vector<std::string>& types, bool of_predictions)
    : file_(file), types_(types), of_predictions_(of_predictions) {
  require_png();
  const auto filled = [&](std::string_view text) {
    return fill_in(text, '@', '@', {{"TITLE", escaped(title)}, {"CSS", std::string(motion_files::css)}, {"JS", std::string(motion_files::js)}});
  };
  constexpr std::string_view kFrames = "@FRAMES@";
  const auto at = motion_files::html.find(kFrames);
  file_.write(filled(motion_files::html.substr(0, at)));
  tail_ = filled(motion_files::html.substr(at + kFrames.size()));
}

void MotionPage::begin_stream(const std::string& name) {
  name_ = name;
  frames_ = 0;
  ++streams_;
}

/// Adds a film's frame. The vectors of its codec, if there are any, become the same frame of a second stream, which
/// shows the same picture.
void MotionPage::add_film(const MotionFrame& frame) {
  if (frames_ == 0) first_index_ = frame.index;
  const auto [width, height] = shown_size(frame);
  width_ = width;
  height_ = height;
  columns_ = frame.blocks.planes[0].columns;
  rows_ = frame.blocks.planes[0].rows;
  film_ = true;
  has_codec_ = frame.codec.has_value();
  for (int field = 0; field < (has_codec_ ? 2 : 1); ++field) {
    const std::vector<std::uint32_t>& sads = field == 0 ? frame.sads[0] : frame.codec->sads;
    const std::uint64_t sad = std::accumulate(sads.begin(), sads.end(), std::uint64_t{0});
    file_.write(fmt::format("<script type=\"text/plain\" data-frame=\"{} {} {} 1\" id=\"s{}f{}\">", field,
                            frame.blocks.key ? "key" : "inter", sad, field, frames_));
    file_.write(field == 0 ? base64(encode_jpeg(shown_samples(of_predictions_ ? frame.prediction : frame.picture, frame), width, height, frame.full_range))
                           : std::string("="));
    file_.write(" " + base64(encode_png(film_values(frame, field == 1))) + "</script>\n");
  }
  ++frames_;
}

void MotionPage::add(const MotionFrame& frame) {
  if (frame.film) return add_film(frame);
  const FrameBlocks& blocks = frame.blocks;
  const std::uint64_t bits = blocks.bits.sum();
  const bool alone = blocks.repeat && frames_ == 0;  // the page does not have the picture that this frame repeats
  if (frames_ == 0) first_index_ = frame.index;
  if (blocks.repeat && !alone) {
    if (repeats_ > 0 && bits != repeat_bits_) end_run();
    repeat_bits_ = bits;
    ++repeats_;
    ++frames_;
    return;
  }
  end_run();
  const auto [width, height] = shown_size(frame);
  width_ = width;
  height_ = height;
  Image values(1, 3);  // a repeat has no values
  if (!blocks.repeat) {
    columns_ = blocks.planes[0].columns;
    rows_ = blocks.planes[0].rows;
    values = values_of(frame);
  }
  const char* type = alone ? "alone" : blocks.key ? "key" : "inter";
  file_.write(fmt::format("<script type=\"text/plain\" data-frame=\"{} {} {} 1\" id=\"s{}f{}\">", streams_ - 1, type, bits,
                          streams_ - 1, frames_));
  file_.write(base64(encode_jpeg(shown_samples(of_predictions_ ? frame.prediction : frame.picture, frame), width, height, frame.full_range)));
  file_.write(" " + base64(encode_png(values)) + "</script>\n");
  ++frames_;
}

void MotionPage::end_run() {
  if (repeats_ == 0) return;
  file_.write(fmt::format("<script type=\"text/plain\" data-frame=\"{} repeat {} {}\"></script>\n", streams_ - 1, repeat_bits_, repeats_));
  repeats_ = 0;
}

void MotionPage::end_stream(const MotionSummary& summary) {
  end_run();
  nlohmann::ordered_json histogram = nlohmann::ordered_json::array();
  for (const auto& [label, count] : summary.histogram()) histogram.push_back({label, count});
  nlohmann::ordered_json stream = {{"name", name_},       {"types", types_},    {"width", width_},
                                   {"height", height_},   {"columns", columns_}, {"rows", rows_},
                                   {"summary", summary.text(false)}, {"histogram", histogram},
                                   {"first_index", first_index_},    {"count", frames_}, {"film", film_}};
  const auto write = [&] {
    file_.write("<script type=\"application/json\" class=\"stream\">" + embedded(stream) + "</script>\n");
  };
  if (has_codec_) stream["name"] = "exact search";
  write();
  if (!has_codec_) return;
  stream["name"] = "the codec's own vectors";
  stream["summary"] = "";
  stream["histogram"] = nlohmann::ordered_json::array();
  write();
}

void MotionPage::finish() { file_.write(tail_); }

}  // namespace c63::tools
