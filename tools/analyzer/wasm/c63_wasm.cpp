// The functions of c63.wasm, which the analyzer's page calls. An instance of the module is one stream or one encode. It
// has one thread and cannot catch: an Error leaves the module as an exception of JavaScript, and the instance is then
// thrown away.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <typeinfo>
#include <vector>

#include "bitstream/entropy_decoder.h"
#include "bitstream/entropy_encoder.h"
#include "bitstream/frame_header.h"
#include "c63/error.h"
#include "c63/settings.h"
#include "codec/quantization.h"
#include "cpu/block_prediction.h"
#include "cpu/frame_coder.h"
#include "decide/planner.h"
#include "decide/presets.h"
#include "decode/picture_pool.h"
#include "encode/block_statistics.h"

// Throws an Error of JavaScript with this text.
[[noreturn]] __attribute__((import_module("c63"), import_name("fail"))) void c63_fail(const char* text, std::size_t size);

// What the compiler calls for `throw`. Debian's libc++abi for WebAssembly has no exceptions.
extern "C" {
void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }
void __cxa_free_exception(void* /*object*/) noexcept {}
[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* /*destroy*/) {
  const bool is_known = *type == typeid(c63::Error);
  const char* const text = is_known ? static_cast<c63::Error*>(object)->what() : type->name();
  c63_fail(text, std::strlen(text));
}
}

namespace c63::wasm {
namespace {

using cpu::PaddedPicture;

/// What the page shows of a luma block.
struct Block {
  std::int16_t x, y;
  std::uint16_t sad;
  std::uint8_t mode;  ///< 0: no vector, 1: own vector, 2: copied from the left block, 3: inherited
  std::uint8_t levels;
  std::uint16_t motion_bits, coefficient_bits;
};

/// A frame of the index, as the page reads it.
struct Entry {
  std::uint32_t offset, bytes, key, repeat, advances, width, height;
};

/// Decodes a stream in memory, and keeps of the last frame what the page shows.
class Stream {
 public:
  explicit Stream(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// Adds the next frame to the index. Returns false at the end of the stream.
  bool pass() {
    if (offset_ == bytes_.size()) return false;
    frames_.push_back(parser_.parse(bytes_.subspan(offset_)));
    const ParsedFrame& f = frames_.back();
    entry_ = {static_cast<std::uint32_t>(offset_), static_cast<std::uint32_t>(f.size), f.key, f.repeat, f.advances_reference,
              static_cast<std::uint32_t>(f.geometry.width()), static_cast<std::uint32_t>(f.geometry.height())};
    offset_ += f.size;
    return true;
  }
  [[nodiscard]] const Entry& entry() const { return entry_; }

  /// Decodes a frame of the index, from the nearest earlier frame on that it can begin with.
  void decode(std::size_t number) {
    if (next_ == number + 1) return;
    std::size_t first = number;
    while (first > 0 && !frames_[first].key) --first;
    if (next_ > first && next_ <= number) first = next_;
    for (next_ = first; next_ <= number; ++next_) decode(frames_[next_]);
  }

  /// The frame after the one that is decoded; after an error, the frame that has it.
  [[nodiscard]] std::size_t next() const { return next_; }
  [[nodiscard]] const PaddedPicture& picture() const { return chain_.current()->samples; }
  [[nodiscard]] const PaddedPicture& prediction() const { return chain_.current()->prediction; }
  [[nodiscard]] const PaddedPicture* reference() const { return reference_ ? &reference_->samples : nullptr; }
  [[nodiscard]] const Geometry& geometry() const { return frames_.front().geometry; }
  [[nodiscard]] const ParsedFrame& frame() const { return frames_[next_ - 1]; }
  [[nodiscard]] const FrameSyntax& syntax() const { return syntax_; }

  /// Memory for the frame of the original video, in linear layout.
  std::span<std::uint8_t> original_input() {
    if (!original_) original_.emplace(geometry());
    return original_->input();
  }
  void lay_out_original() { original_->lay_out(); }
  void forget_original() { original_.reset(); }
  /// The original frame, or the decoded one if there is no original.
  [[nodiscard]] const PaddedPicture& original() const { return original_ ? *original_ : picture(); }

  const FrameBlocks& count() {
    counted_ = {};
    if (frame().repeat) {
      counted_.bits.header = 8 * frame().size;
    } else {
      count_blocks(syntax_, frame().size, counted_);
    }
    return counted_;
  }

  const std::vector<Block>& blocks() {
    const PlaneBlocks& luma = counted_.planes[0];
    const PredictionVectors::Plane& vectors = chain_.current()->vectors.plane(0);
    const PlaneSyntax& coded = syntax_.planes[0];
    blocks_.resize(static_cast<std::size_t>(coded.geometry.blocks()));
    for (int i = 0; i < coded.geometry.blocks(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool has_left = i % coded.geometry.columns > 0 && coded.uses_vector[at - 1] != 0;
      const bool is_copied = has_left && coded.vectors[at] == coded.vectors[at - 1];
      const MotionVector v = vectors.vectors[at];
      const int mode = vectors.has_vector[at] == 0 ? 0 : coded.uses_vector[at] == 0 ? 3 : is_copied ? 2 : 1;
      blocks_[at] = {v.x, v.y, sad(i), static_cast<std::uint8_t>(mode), luma.nonzero_levels[at],
                     static_cast<std::uint16_t>(luma.motion_bits[at]), static_cast<std::uint16_t>(luma.coefficient_bits[at])};
    }
    return blocks_;
  }

 private:
  void decode(const ParsedFrame& f) {
    if (f.repeat) return;
    FramePictures pictures = chain_.next(f.key, f.advances_reference, *pool_.find_free());
    DecodedPicture& to = *pictures.picture;
    to.allocate(f.geometry, /*with_prediction=*/true);
    if (syntax_.geometry != f.geometry) syntax_ = FrameSyntax(f.geometry);
    syntax_.key = f.key;
    decode_scan(f, syntax_, scratch_);
    to.vectors.fill(syntax_, pictures.before ? &pictures.before->vectors : nullptr);
    std::array<cpu::TransformTable, kPlanes> tables;
    for (int p = 0; p < kPlanes; ++p) tables[p] = cpu::TransformTable(f.tables[p], p);
    for (int row = 0; row < f.geometry.mcu_rows(); ++row) {
      cpu::restore_row(syntax_, to.vectors, tables, kernels_, pictures.reference ? pictures.reference->samples : to.samples,
                       to.samples, &to.prediction, row);
    }
    reference_ = pictures.reference;
  }

  /// Returns the SAD between the original, or decoded, picture and the prediction, over samples inside the picture.
  [[nodiscard]] std::uint16_t sad(int block) const {
    const ConstPlaneView a = original().plane(0);
    const ConstPlaneView b = prediction().plane(0);
    const PlaneGeometry g = geometry().plane(0);
    int sum = 0;
    for (int i = 0; i < kBlockSamples; ++i) {
      const int x = block % g.columns * kBlockSize + i % kBlockSize;
      const int y = block / g.columns * kBlockSize + i / kBlockSize;
      if (static_cast<std::size_t>(y * g.width + x) < g.coded_samples) sum += std::abs(a.at(x, y) - b.at(x, y));
    }
    return static_cast<std::uint16_t>(sum);
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t offset_ = 0;
  FrameParser parser_;
  std::vector<ParsedFrame> frames_;
  Entry entry_{};
  std::size_t next_ = 0;
  const cpu::Kernels& kernels_ = cpu::kernels();
  PicturePool pool_{4};   ///< the frame's picture, two earlier ones, and its reference, which the page shows
  ReferenceChain chain_;
  PictureRef reference_;
  FrameSyntax syntax_;
  std::vector<std::uint8_t> scratch_;
  FrameBlocks counted_;
  std::vector<Block> blocks_;
  std::optional<PaddedPicture> original_;
};

/// Encodes as c63enc does with preset reference.
class Encode {
 public:
  explicit Encode(const CodingSettings& settings)
      : settings_(settings), geometry_(settings.width, settings.height), coder_(settings, cpu::kernels()), current_(geometry_),
        syntax_(geometry_) {
    for (PaddedPicture& picture : pictures_) picture = PaddedPicture(geometry_);
    for (PredictionVectors& vectors : vectors_) vectors = PredictionVectors(geometry_);
    planner_ = make_planner_factory(settings)();
  }

  std::span<std::uint8_t> input() { return current_.input(); }

  /// Encodes the frame in input(). Returns its bytes.
  const std::vector<std::uint8_t>& code() {
    const bool key = index_ % settings_.key_interval == 0;
    const FramePlan plan = planner_->plan({.index = index_, .key = key});
    const auto now = static_cast<std::size_t>(index_++ % 2);
    current_.lay_out();
    const cpu::FrameJob job{.plan = &plan, .current = &current_, .reference = &pictures_[1 - now], .reconstruction = &pictures_[now],
                            .syntax = &syntax_, .vectors = &vectors_[now], .before = &vectors_[1 - now]};
    syntax_.key = key;
    coder_.begin(job);
    const int rows = geometry_.mcu_rows();
    for (int row = 0; row < rows && !key; ++row) coder_.prepare_row(row);
    if (!key) coder_.prepare();
    for (int row = 0; row < rows; ++row) {
      if (!key) static_cast<void>(coder_.search_row(row));
      static_cast<void>(coder_.code_row(row));
    }
    bytes_.clear();
    write_frame_header(bytes_, geometry_, plan.tables, key, plan.headers);
    BitCounts bits;
    encode_scan(syntax_, bytes_, bits);
    write_frame_trailer(bytes_);
    return bytes_;
  }

 private:
  CodingSettings settings_;
  Geometry geometry_;
  cpu::FrameCoder coder_;
  std::unique_ptr<Planner> planner_;
  PaddedPicture current_;
  std::array<PaddedPicture, 2> pictures_;
  std::array<PredictionVectors, 2> vectors_;
  FrameSyntax syntax_;
  std::int64_t index_ = 0;
  std::vector<std::uint8_t> bytes_;
};

std::optional<Stream> stream;
std::optional<Encode> encode;
std::vector<std::uint8_t> pixels;
std::vector<std::uint8_t> output;

enum class Show { picture, prediction, residual, difference, original };

std::uint8_t clipped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

bool full_range = false;  ///< of the samples

/// Converts samples to RGBA, as BT.601 says.
void to_rgba(int luma, int u, int v, std::uint8_t* rgba) {
  const int y = (full_range ? 256 * luma : 298 * (luma - 16)) + 128;
  const std::array<int, 4> of_chroma = full_range ? std::array{359, 88, 183, 454} : std::array{409, 100, 208, 516};
  rgba[0] = clipped((y + of_chroma[0] * (v - 128)) >> 8);
  rgba[1] = clipped((y - of_chroma[1] * (u - 128) - of_chroma[2] * (v - 128)) >> 8);
  rgba[2] = clipped((y + of_chroma[3] * (u - 128)) >> 8);
  rgba[3] = 255;
}

/// Fills `pixels` with the picture, or with a difference on grey, `gain` times as large.
void draw(Show what, int width, int height, int gain) {
  const bool is_difference = what == Show::residual || what == Show::difference;
  const PaddedPicture& a = what == Show::prediction ? stream->prediction() : what == Show::original ? stream->original() : stream->picture();
  const PaddedPicture& b = what == Show::residual ? stream->prediction() : stream->original();
  pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  std::uint8_t* to = pixels.data();
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* const rows[] = {a.plane(0).row(y), a.plane(1).row(y / 2), a.plane(2).row(y / 2), b.plane(0).row(y)};
    for (int x = 0; x < width; ++x, to += 4) {
      if (is_difference) {
        std::memset(to, clipped(128 + gain * (rows[0][x] - rows[3][x])), 3);
        to[3] = 255;
      } else {
        to_rgba(rows[0][x], rows[1][x / 2], rows[2][x / 2], to);
      }
    }
  }
}

}  // namespace
}  // namespace c63::wasm

#define C63_EXPORT(name) extern "C" __attribute__((export_name(#name)))

using namespace c63;

C63_EXPORT(memory_for) std::uint8_t* memory_for(std::size_t size) { return static_cast<std::uint8_t*>(std::malloc(size)); }

C63_EXPORT(set_range) void c63_set_range(bool is_full) { wasm::full_range = is_full; }
C63_EXPORT(open) void c63_open(const std::uint8_t* bytes, std::size_t size) { wasm::stream.emplace(std::span(bytes, size)); }
/// Returns the entry of the next frame, or null at the end.
C63_EXPORT(pass) const wasm::Entry* c63_pass() { return wasm::stream->pass() ? &wasm::stream->entry() : nullptr; }
C63_EXPORT(decode) void c63_decode(std::size_t number) { wasm::stream->decode(number); }
C63_EXPORT(next) std::size_t c63_next() { return wasm::stream->next(); }
/// Returns the decoded frame in linear layout, as c63dec writes it.
C63_EXPORT(samples) const std::uint8_t* c63_samples() {
  wasm::output.resize(wasm::stream->geometry().frame_bytes());
  wasm::stream->picture().copy_to(wasm::output);
  return wasm::output.data();
}
/// Returns the bits of the frame by kind: header, flags, vectors, DC, AC, end of block.
C63_EXPORT(bits) const std::uint32_t* c63_bits() {
  static std::array<std::uint32_t, 6> kinds;
  const KindBits& bits = wasm::stream->count().bits;
  std::ranges::copy(std::array{bits.header, bits.flags, bits.vectors, bits.dc, bits.ac, bits.end_of_block}, kinds.begin());
  return kinds.data();
}
/// Returns the luma blocks. Call bits() before. Not for repeats.
C63_EXPORT(blocks) const wasm::Block* c63_blocks() { return wasm::stream->blocks().data(); }
/// Returns the 64 levels of a luma block and then their steps, both in raster order.
C63_EXPORT(levels) const std::int16_t* c63_levels(int block) {
  static std::array<std::int16_t, 128> all;
  for (std::size_t k = 0; k < 64; ++k) {
    all[kZigZag[k]] = wasm::stream->syntax().planes[0].block(block)[k];
    all[64 + kZigZag[k]] = wasm::stream->frame().tables[0][k];
  }
  return all.data();
}
C63_EXPORT(draw) const std::uint8_t* c63_draw(int what, int width, int height, int gain) {
  wasm::draw(static_cast<wasm::Show>(what), width, height, gain);
  return wasm::pixels.data();
}
C63_EXPORT(original_input) std::uint8_t* c63_original_input() { return wasm::stream->original_input().data(); }
C63_EXPORT(lay_out_original) void c63_lay_out_original() { wasm::stream->lay_out_original(); }
C63_EXPORT(forget_original) void c63_forget_original() { wasm::stream->forget_original(); }
/// The padded luma planes that a search works on: 0 the block's, 1 the reference; null if the frame has none.
C63_EXPORT(search_plane) const std::uint8_t* c63_search_plane(int which) {
  if (which == 0) return wasm::stream->original().plane(0).data;
  return wasm::stream->reference() != nullptr ? wasm::stream->reference()->plane(0).data : nullptr;
}

/// Begins an encode with preset reference. Returns the memory for each frame's samples.
C63_EXPORT(encode) std::uint8_t* c63_encode(int width, int height, double qp, int range, int key_interval) {
  EncoderSettings settings;
  settings.coding = {.width = width, .height = height, .qp = qp, .key_interval = key_interval, .search_range = range,
                     .method = SearchMethod::full_eliminate};
  validate(settings);
  wasm::encode.emplace(settings.coding);
  return wasm::encode->input().data();
}
/// Encodes the frame. Returns the number of its bytes, which are at coded().
C63_EXPORT(code) std::size_t c63_code() {
  wasm::output = wasm::encode->code();
  return wasm::output.size();
}
C63_EXPORT(coded) const std::uint8_t* c63_coded() { return wasm::output.data(); }

