#include "encode/block_statistics.h"

#include <algorithm>

#include "bitstream/block_order.h"
#include "bitstream/entropy_decoder.h"
#include "bitstream/frame_header.h"
#include "bitstream/frame_syntax.h"
#include "bitstream/prediction_vectors.h"
#include "codec/bit_cost.h"

namespace c63 {
namespace {

/// Counts the bits of a block's flags and vector.
void count_motion(const PlaneSyntax& plane, int block, int column, KindBits& bits) {
  if (plane.uses_vector[block] == 0) {
    bits.flags += kNoVectorBits;
    return;
  }
  bits.flags += kVectorFlagBits;
  const MotionVector vector = plane.vectors[block];
  if (column > 0 && plane.uses_vector[block - 1] != 0 && plane.vectors[block - 1] == vector) return;
  bits.vectors += static_cast<std::uint64_t>(vector_bits(vector.x, vector.y));
}

void count_coefficients(const std::int16_t* levels, int dc_difference, int plane, KindBits& bits) {
  const AcBits& ac = ac_bits(plane);
  bits.dc += static_cast<std::uint64_t>(dc_bits(dc_difference, plane));
  int zeros = 0;
  for (int k = 1; k < 64; ++k) {
    if (levels[k] == 0) {
      ++zeros;
      continue;
    }
    bits.ac += static_cast<std::uint64_t>(ac.level(zeros, value_size(levels[k])));
    zeros = 0;
  }
  if (zeros > 0) bits.end_of_block += ac.end_of_block;
}

}  // namespace

KindBits& KindBits::operator+=(const KindBits& other) {
  for (const auto kind : {&KindBits::header, &KindBits::flags, &KindBits::vectors, &KindBits::dc, &KindBits::ac,
                          &KindBits::end_of_block}) {
    this->*kind += other.*kind;
  }
  return *this;
}

void count_blocks(const FrameSyntax& syntax, std::size_t bytes, FrameBlocks& frame) {
  for (int p = 0; p < kPlanes; ++p) {
    const PlaneGeometry& g = syntax.planes[p].geometry;
    frame.planes[p].columns = g.columns;
    frame.planes[p].rows = g.rows;
    frame.planes[p].motion_bits.resize(static_cast<std::size_t>(g.blocks()));
    frame.planes[p].coefficient_bits.resize(static_cast<std::size_t>(g.blocks()));
    frame.planes[p].nonzero_levels.resize(static_cast<std::size_t>(g.blocks()));
  }
  std::array<int, kPlanes> dc{};
  for_each_block_in_coding_order(syntax.geometry, [&](int p, int block, int column) {
    const PlaneSyntax& plane = syntax.planes[p];
    const std::int16_t* levels = plane.block(block);
    KindBits bits;
    count_motion(plane, block, column, bits);
    frame.planes[p].motion_bits[block] = static_cast<std::uint32_t>(bits.sum());
    count_coefficients(levels, levels[0] - dc[p], p, bits);
    frame.planes[p].coefficient_bits[block] = static_cast<std::uint32_t>(bits.sum()) - frame.planes[p].motion_bits[block];
    frame.planes[p].nonzero_levels[block] = static_cast<std::uint8_t>(64 - std::count(levels, levels + 64, 0));
    frame.bits += bits;
    dc[p] = levels[0];
  });
  frame.bits.header = 8 * bytes - frame.bits.sum();
}

struct BlockAnalyser::State {
  FrameParser parser;
  FrameSyntax syntax;
  PredictionVectors vectors;  ///< vectors of the last frame that was not a repeat
  std::vector<std::uint8_t> scratch;
};

BlockAnalyser::BlockAnalyser(Limits limits) : state_(std::make_unique<State>(State{FrameParser(limits), {}, {}, {}})) {}
BlockAnalyser::~BlockAnalyser() = default;
BlockAnalyser::BlockAnalyser(BlockAnalyser&&) noexcept = default;
BlockAnalyser& BlockAnalyser::operator=(BlockAnalyser&&) noexcept = default;

FrameBlocks BlockAnalyser::analyse(std::span<const std::uint8_t> bytes) {
  const ParsedFrame parsed = state_->parser.parse(bytes);
  FrameBlocks frame;
  frame.key = parsed.key;
  frame.repeat = parsed.repeat;
  frame.width = parsed.geometry.width();
  frame.height = parsed.geometry.height();
  if (parsed.repeat) {
    frame.bits.header = 8 * bytes.size();
    return frame;
  }

  FrameSyntax& syntax = state_->syntax;
  if (syntax.geometry != parsed.geometry) {
    syntax = FrameSyntax(parsed.geometry);
    state_->vectors = PredictionVectors(parsed.geometry);
  }
  decode_scan(parsed, syntax, state_->scratch);
  count_blocks(syntax, bytes.size(), frame);
  state_->vectors.fill(syntax, parsed.advances_reference ? nullptr : &state_->vectors);
  for (int p = 0; p < kPlanes; ++p) {
    frame.planes[p].vectors = state_->vectors.plane(p).vectors;
    frame.planes[p].inter = state_->vectors.plane(p).has_vector;
  }
  return frame;
}

}  // namespace c63
