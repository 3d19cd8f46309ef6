#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "c63/motion.h"
#include "c63/settings.h"

namespace c63 {

/// Statistics of the 8x8 blocks of one plane of a coded frame, in raster order.
struct PlaneBlocks {
  int columns = 0;
  int rows = 0;
  std::vector<MotionVector> vectors;  ///< coded or inherited; zero for blocks without one
  std::vector<std::uint8_t> inter;    ///< 1: the block is predicted by a vector; 0: it is predicted from zero
  std::vector<std::uint32_t> motion_bits;
  std::vector<std::uint32_t> coefficient_bits;
  std::vector<std::uint8_t> nonzero_levels;  ///< levels of the block that are not zero, 0..64
};

/// The bits of coded frames, by their purpose.
struct KindBits {
  std::uint64_t header = 0;   ///< markers, tables, stuffing, padding
  /// The flags of blocks: whether there is a vector, and whether it is the left neighbour's.
  std::uint64_t flags = 0;
  std::uint64_t vectors = 0;
  std::uint64_t dc = 0;
  std::uint64_t ac = 0;       ///< levels and runs of zeros
  std::uint64_t end_of_block = 0;

  KindBits& operator+=(const KindBits& other);
  [[nodiscard]] std::uint64_t sum() const { return header + flags + vectors + dc + ac + end_of_block; }
};

struct FrameBlocks {
  bool key = false;
  bool repeat = false;  ///< nothing is coded: there are no blocks
  int width = 0;
  int height = 0;
  std::array<PlaneBlocks, 3> planes;
  KindBits bits;
};

struct FrameSyntax;

/// Fills in the bits and levels of a frame that takes `bytes` bytes and is not a repeat, from its syntax elements.
void count_blocks(const FrameSyntax& syntax, std::size_t bytes, FrameBlocks& frame);

/// Counts the bits of the frames of one stream, block by block. analyse() must get the frames in stream order.
class BlockAnalyser {
 public:
  explicit BlockAnalyser(Limits limits = {});
  ~BlockAnalyser();
  BlockAnalyser(BlockAnalyser&&) noexcept;
  BlockAnalyser& operator=(BlockAnalyser&&) noexcept;

  /// Analyses one frame, whose bytes are `bytes`, from SOI to EOI. Throws Error (input, limit) with the offset from the
  /// frame's start.
  [[nodiscard]] FrameBlocks analyse(std::span<const std::uint8_t> bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace c63
