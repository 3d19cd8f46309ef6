// Compares every kernel of every instruction set with the scalar kernel. The results must be equal.

#include "cpu/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "contents.h"
#include "decide/frame_plan.h"

namespace c63::cpu::kernels_test {
namespace {

using parity::Content;
using parity::fill;
using parity::kContents;
using parity::name_of;
using parity::Plane;

class KernelParity : public parity::LevelTest {
 protected:
  void SetUp() override {
    LevelTest::SetUp();
    if (IsSkipped()) return;
    kernels_ = &kernels(GetParam());
    ASSERT_EQ(kernels_->level, GetParam());
  }

  const Kernels& scalar_ = scalar_kernels();
  const Kernels* kernels_ = nullptr;
};

TEST_P(KernelParity, Sad) {
  for (const Content a : kContents) {
    for (const Content b : kContents) {
      Plane first(a, 24, 16, 24 + 7, 1);
      Plane second(b, 24, 16, 24 + 13, 2);
      for (int offset = 0; offset < 8; ++offset) {
        const std::uint8_t* p = &first.view().at(offset, offset);
        const std::uint8_t* q = &second.view().at(2 * offset, 8 - offset);
        EXPECT_EQ(kernels_->sad(p, 31, q, 37), scalar_.sad(p, 31, q, 37)) << name_of(a) << " " << name_of(b);
      }
    }
  }
}

/// Returns the sums of all 4x4 squares of a plane, as a search by elimination keeps them.
std::vector<std::uint8_t> sums_of(const Kernels& kernels, ConstPlaneView plane) {
  std::vector<std::uint8_t> sums(static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.height) +
                                 4 * kPlaneGuard, 0xBE);
  kernels.quarter_sums(plane.row(0), plane.pitch, plane.width - 3, plane.height - 3, sums.data(), plane.width);
  return sums;
}

TEST_P(KernelParity, QuarterSumsAndNothingAfterThem) {
  for (const Content content : kContents) {
    for (const int width : {8, 16, 40, 72, 104, 152}) {
      for (const int height : {4, 5, 8, 24}) {
        Plane plane(content, width, height, width + 5, 3);
        EXPECT_EQ(sums_of(*kernels_, plane.view()), sums_of(scalar_, plane.view()))
            << name_of(content) << " " << width << "x" << height;
      }
    }
  }
}

/// The keys that a search writes for a block, with one entry before and one after the largest number of them.
using Keys = std::array<std::uint32_t, kMaxFoundVectors + 2>;

std::vector<Keys> search(const Kernels& kernels, std::vector<BlockSearch>& blocks, const std::vector<std::uint8_t>* sums, int pitch,
                         const SearchCosts* costs, std::size_t count) {
  std::vector<Keys> keys(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    keys[i].fill(0xABCDABCD);
    blocks[i].keys = keys[i].data() + 1;
  }
  kernels.search(blocks, sums != nullptr ? QuarterSumsView{sums->data(), pitch} : QuarterSumsView{}, costs, count);
  return keys;
}

BlockSearch block_of(const Plane& current, const Plane& reference, int x, int y, const SearchWindow& window) {
  return {.window = window, .own = {x, y}, .current = &current.view().at(x, y), .current_pitch = current.view().pitch,
          .reference = reference.view()};
}

TEST_P(KernelParity, SearchOfEveryBlock) {
  constexpr int kSizes[][2] = {{8, 8}, {16, 16}, {88, 24}, {8, 96}};
  constexpr Cost kFree = -1;  // vectors without a cost
  const std::vector<std::pair<Cost, std::vector<std::size_t>>> goals = {
      {kFree, {1, 2}}, {500, {1, 2}}, {20000, {1, 2, 4}}, {kMaxLambda, {2, kMaxFoundVectors}}};  // λ, and numbers of wanted candidates
  // The results of the scalar kernels for the largest number of wanted candidates; the first of them are those of a
  // smaller number. They are computed once and used for all instruction sets, because that takes long.
  static std::vector<std::vector<Keys>> known;
  std::size_t at = 0;
  for (const auto [width, height] : kSizes) {
    // Flat content and columns have equal costs, shifted content has motion, extremes have the largest SADs.
    for (const Content content : {Content::ones, Content::columns, Content::random, Content::extremes, Content::noise_on_gray, Content::shifted}) {
      const Plane current(content, width, height, width + 3, 5);
      const Plane reference(content, width, height, width + 11, 6);
      const auto sums = sums_of(scalar_, reference.view());
      for (const int range : {0, 1, 7, 8, 13, 16, 31, 32, 64}) {
        for (const bool whole : {false, true}) {
          // An exhaustive search must find the same from any starts: the first candidate, the last one, the zero vector,
          // or one in between.
          std::vector<BlockSearch> blocks;
          for (int block = 0; block < width / 8 * (height / 8); ++block) {
            const int column = block % (width / 8);
            const int row = block / (width / 8);
            const SearchWindow w = whole ? whole_search_window(column, row, width, height, range) : search_window(column, row, width, height, range);
            if (w.empty()) continue;
            BlockSearch& search = blocks.emplace_back(block_of(current, reference, column * 8, row * 8, w));
            const Position places[] = {{std::min(column * 8, w.right - 1), std::min(row * 8, w.bottom - 1)},
                                       {w.left, w.top}, {w.right - 1, w.bottom - 1}, {(w.left + w.right) / 2, (w.top + w.bottom) / 2}};
            for (std::size_t i = 0; i < kStarts; ++i) search.starts[i] = places[(i * static_cast<std::size_t>(block) + block) % 4];
          }
          if (blocks.empty()) continue;
          for (const auto& [lambda, counts] : goals) {
            const SearchCosts costs(VectorCosts(sad_per_bit(std::max(lambda, 0))));
            const SearchCosts* const priced = lambda == kFree ? nullptr : &costs;
            if (at == known.size()) known.push_back(search(scalar_, blocks, nullptr, width, priced, kMaxFoundVectors));
            const std::vector<Keys>& best = known[at++];
            for (const std::size_t count : counts) {
              std::vector<Keys> expected = best;
              for (Keys& keys : expected) std::fill(keys.begin() + 1 + static_cast<std::ptrdiff_t>(count), keys.end(), 0xABCDABCD);
              const std::string what = std::string(name_of(content)) + " " + std::to_string(width) + "x" + std::to_string(height) +
                                       " range " + std::to_string(range) + " lambda " + std::to_string(lambda) + " best " + std::to_string(count);
              ASSERT_EQ(search(*kernels_, blocks, &sums, width, priced, count), expected) << what;
              ASSERT_EQ(search(*kernels_, blocks, nullptr, width, priced, count), expected) << what << " without sums";
            }
          }
        }
      }
    }
  }
}

TEST_P(KernelParity, SearchTakesTheFirstOfEquals) {
  // The picture repeats every `period` samples, so many candidates have equal SADs. The first of them must be found.
  for (const int period : {4, 8, 16}) {
    Plane plane(96, 96, 96);
    for (int y = 0; y < 96; ++y) {
      for (int x = 0; x < 96; ++x) {
        plane.view().at(x, y) = static_cast<std::uint8_t>((x % period) * 13 + (y % period) * 29);
      }
    }
    const auto sums = sums_of(scalar_, plane.view());
    for (const int range : {16, 35}) {
      const SearchWindow window = search_window(5, 6, 96, 96, range);
      std::vector<BlockSearch> searches;
      for (int y = window.top; y < window.bottom; y += 5) {
        for (int x = window.left; x < window.right; x += 9) {
          searches.push_back(block_of(plane, plane, 40, 48, window));
          searches.back().starts = {Position{x, y}, {x, y}, {window.left, y}, {x, y}};
        }
      }
      // All searches have the same candidates, so they all find what the first one finds.
      std::vector<BlockSearch> one(searches.begin(), searches.begin() + 1);
      const std::vector<Keys> expected(searches.size(), search(scalar_, one, nullptr, 96, nullptr, 1)[0]);
      EXPECT_EQ(expected[0][1] >> 16, 0U);
      EXPECT_EQ(search(*kernels_, searches, &sums, 96, nullptr, 1), expected);
      EXPECT_EQ(search(*kernels_, searches, nullptr, 96, nullptr, 1), expected);
    }
  }
}

TEST_P(KernelParity, SearchFindsEqualsBeforeTheStart) {
  // The block itself is at the start of the search. A copy of it, or one with a wrong sample, is anywhere in the window.
  // The one written last may overwrite a part of the other. With columns, two overlapping copies can be equal.
  constexpr int kSize = 64;
  for (const Content content : {Content::random, Content::noise_on_gray, Content::columns}) {
    const Plane current(content, kSize, kSize, kSize, 7);
    for (const auto& [column, row] : {std::pair(0, 7), std::pair(4, 3), std::pair(7, 0)}) {
      const SearchWindow window = search_window(column, row, kSize, kSize, 16);
      const Position start{std::min(column * 8 + 6, window.right - 1), std::min(row * 8, window.bottom - 1)};
      const std::uint8_t* const block = &current.view().at(column * 8, row * 8);
      for (int y = window.top; y < window.bottom; y += 4) {
        for (int x = window.left; x < window.right; ++x) {
          Plane reference(Content::random, kSize, kSize, kSize, 8);
          const auto copy_to = [&](const Position& to) {
            for (int k = 0; k < 8; ++k) std::copy_n(block + k * kSize, 8, &reference.view().at(to.x, to.y + k));
          };
          copy_to({x, y});
          if (x % 3 == 0) reference.view().at(x + 5, y + 2) ^= 1;
          if (x % 4 != 0) copy_to(start);
          std::vector<BlockSearch> searches{block_of(current, reference, column * 8, row * 8, window)};
          searches[0].starts = {start, start, {x, y}, start};
          const auto sums = sums_of(scalar_, reference.view());
          EXPECT_EQ(search(*kernels_, searches, &sums, kSize, nullptr, 1), search(scalar_, searches, nullptr, kSize, nullptr, 1)) << x << "," << y;
        }
      }
    }
  }
}

/// The largest number of neighbouring blocks in CodeBlocks and RestoreBlocksWithAnyLevelsAndSteps. The kernels that they
/// test work on at most four blocks at the same time, so there are two full groups and one more block.
constexpr int kMostBlocks = 9;

/// Returns predictions for `count` blocks, from random places in `plane`. Every third block is predicted from zeros.
std::vector<BlockPrediction> predictions_in(Plane& plane, int count, unsigned seed) {
  static constexpr std::uint8_t kZeros[8] = {};
  const PlaneView view = plane.view();
  std::mt19937 random(seed);
  std::vector<BlockPrediction> predictions;
  for (int i = 0; i < count; ++i) {
    const int x = static_cast<int>(random() % static_cast<unsigned>(view.width - 7));
    const int y = static_cast<int>(random() % static_cast<unsigned>(view.height - 7));
    const bool zero = (seed + static_cast<unsigned>(i)) % 3 == 0;
    predictions.push_back(zero ? BlockPrediction{kZeros, 0} : BlockPrediction{&view.at(x, y), view.pitch});
  }
  return predictions;
}

/// Transforms and quantizes blocks. Returns their levels, with memory before and after them that was filled with
/// 0x5A5A.
std::vector<std::int16_t> code(const Kernels& kernels, const std::uint8_t* current, std::ptrdiff_t current_pitch,
                               std::span<const BlockPrediction> predictions, const TransformTable& table) {
  std::vector<std::int16_t> levels(64 * predictions.size() + 2 * 64, 0x5A5A);
  kernels.transform_quantize(current, current_pitch, predictions, table, levels.data() + 64 + 8);
  return levels;
}

TEST_P(KernelParity, CodeBlocks) {
  constexpr int kWidth = 8 * kMostBlocks + 8;
  for (const int qp : {5, 10, 25, 26, 37, 50}) {
    const QuantizationTables tables = make_quantization_tables(qp);
    for (int plane = 0; plane < kPlanes; ++plane) {
      const TransformTable table(tables[plane], plane);
      unsigned seed = 0;
      for (const Content a : kContents) {
        for (const Content b : kContents) {
          ++seed;
          const int count = 1 + static_cast<int>(seed) % kMostBlocks;
          Plane current(a, kWidth, 16, kWidth + 5, seed);
          Plane source(b, 24, 24, 24 + 3, seed + 100);
          // Some of these blocks lie at the end of the last row, so only the margin follows them in memory.
          for (const int end : {8 * count, 8 * count + 3, kWidth}) {
            const std::uint8_t* p = &current.view().at(end - 8 * count, 8);
            const auto predictions = predictions_in(source, count, seed);
            ASSERT_EQ(code(*kernels_, p, kWidth + 5, predictions, table),
                      code(scalar_, p, kWidth + 5, predictions, table))
                << count << " of " << name_of(a) << " from " << name_of(b) << " qp " << qp << " plane " << plane;
          }
        }
      }
    }
  }
}

TEST_P(KernelParity, CodeBlocksInAnyNumber) {
  const TransformTable table(make_quantization_tables(50)[0], 0);
  Plane current(Content::random, 8 * 33, 8, 8 * 33 + 1, 1);
  Plane source(Content::extremes, 40, 40, 41, 2);
  for (int count = 0; count <= 33; ++count) {
    const auto predictions = predictions_in(source, count, static_cast<unsigned>(count));
    const std::uint8_t* p = &current.view().at(8 * (33 - count), 0);
    ASSERT_EQ(code(*kernels_, p, 8 * 33 + 1, predictions, table), code(scalar_, p, 8 * 33 + 1, predictions, table))
        << count;
  }
}

TEST_P(KernelParity, CodeBlocksOnTies) {
  // All residuals of a block are equal, so only its DC coefficient is not zero. Tests all residuals with all steps:
  // some quotients lie exactly on a half, where rounding changes, and others next to one.
  Plane current(8 * 16, 8, 8 * 16);
  Plane source(8 * 16, 8, 8 * 16);
  std::vector<BlockPrediction> predictions;
  for (int i = 0; i < 16; ++i) predictions.push_back({&source.view().at(8 * i, 0), 8 * 16});
  for (int step = 1; step < 256; ++step) {
    QuantizationTable steps;
    steps.fill(static_cast<std::uint8_t>(step));
    const TransformTable table(steps, step % kPlanes);
    for (int residual = -256; residual < 256; residual += 16) {
      for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8 * 16; ++x) {
          const int value = std::clamp(residual + x / 8, -255, 255);
          current.view().at(x, y) = static_cast<std::uint8_t>(std::max(value, 0));
          source.view().at(x, y) = static_cast<std::uint8_t>(std::max(-value, 0));
        }
      }
      const std::uint8_t* p = current.view().data;
      ASSERT_EQ(code(*kernels_, p, 8 * 16, predictions, table), code(scalar_, p, 8 * 16, predictions, table))
          << residual << " step " << step;
    }
  }
  // With two different values in a block, other coefficients than DC lie on a half or next to it, too.
  const TransformTable table(make_quantization_tables(25)[0], 0);
  Plane pairs(8 * 86, 8, 8 * 86);
  const std::vector<BlockPrediction> nothing = [] {
    static constexpr std::uint8_t kZeros[8] = {};
    return std::vector<BlockPrediction>(86, {kZeros, 0});
  }();
  for (int value = 0; value < 256; ++value) {
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8 * 86; ++x) {
        const int i = 8 * y + x % 8;
        pairs.view().at(x, y) = static_cast<std::uint8_t>(i % 2 == 0 || i < value % 64 ? value : x / 8 * 3);
      }
    }
    const std::uint8_t* p = pairs.view().data;
    ASSERT_EQ(code(*kernels_, p, 8 * 86, nothing, table), code(scalar_, p, 8 * 86, nothing, table)) << value;
  }
}

/// Reconstructs blocks in a plane that was filled with 0xA5 before, and returns the plane.
std::vector<std::uint8_t> restore(const Kernels& kernels, const std::vector<std::int16_t>& levels,
                                  const TransformTable& table, std::span<const BlockPrediction> predictions) {
  const int width = 8 * static_cast<int>(predictions.size()) + 16;
  Plane out(width, 24, width + 3);
  kernels.dequantize_reconstruct(levels.data(), table, predictions, &out.view().at(5, 9), width + 3);
  return out.bytes();
}

TEST_P(KernelParity, RestoreBlocksWithAnyLevelsAndSteps) {
  std::mt19937 random(7);
  for (int round = 0; round < 2500; ++round) {
    QuantizationTable steps;
    const bool hostile = round % 2 == 0;
    for (auto& step : steps) step = static_cast<std::uint8_t>(hostile ? random() % 256 : 1 + random() % 60);
    if (round % 16 == 0) steps.fill(255);
    const TransformTable table(steps, round % 3);
    const int count = round % (kMostBlocks + 1);
    std::vector<std::int16_t> levels(static_cast<std::size_t>(64 * count));
    // In a third of the rounds, only the first 10 coefficients may be nonzero. In another third these are the first 25,
    // and in the others all 64. About every eighth block ignores this and has 64 nonzero coefficients.
    const unsigned places = round % 3 == 0 ? 10 : round % 3 == 1 ? 25 : 64;
    for (int block = 0; block < count; ++block) {
      const unsigned nonzero = random() % 8 == 0 ? 64 : random() % 12;
      for (unsigned i = 0; i < nonzero; ++i) {
        const unsigned k = nonzero == 64 ? i : (round % 7 == 0 ? 0 : random() % places);
        int value = hostile ? static_cast<int>(random() % 65536) - 32768 : static_cast<int>(random() % 41) - 20;
        if (round % 32 == 0) value = (random() & 1) != 0 ? INT16_MAX : INT16_MIN;
        if (round % 64 == 0) value = INT16_MIN;
        levels[static_cast<std::size_t>(block) * 64 + k] = static_cast<std::int16_t>(value);
      }
    }
    Plane source(kContents[static_cast<std::size_t>(round) % kContents.size()], 24, 24, 25, 8);
    const auto predictions = predictions_in(source, count, static_cast<unsigned>(round));
    ASSERT_EQ(restore(*kernels_, levels, table, predictions), restore(scalar_, levels, table, predictions)) << round;
  }
}

TEST_P(KernelParity, RestoreBlocksWithOneLevel) {
  // A kernel may skip levels that are zero. So in each round all levels of five neighbouring blocks are zero except
  // one. Each level gets its turn.
  const TransformTable table(make_quantization_tables(10)[0], 0);
  Plane source(Content::random, 24, 24, 25, 8);
  const auto predictions = predictions_in(source, 5, 1);
  for (std::size_t place = 0; place < 64 * 5; ++place) {
    for (const int value : {-1, 1, 7, -90}) {
      std::vector<std::int16_t> levels(64 * 5);
      levels[place] = static_cast<std::int16_t>(value);
      ASSERT_EQ(restore(*kernels_, levels, table, predictions), restore(scalar_, levels, table, predictions))
          << place << " " << value;
    }
  }
}

TEST_P(KernelParity, RestoreBlocksDequantizesEveryProduct) {
  // Restores every possible level with the largest step, and every seventh group of levels with others. Levels -32768
  // and 32767 give the largest products.
  Plane source(Content::noise_on_gray, 24, 24, 25, 8);
  const auto predictions = predictions_in(source, 4, 1);
  std::vector<std::int16_t> levels(64 * 4);
  for (const int step : {1, 2, 3, 5, 254, 255}) {
    QuantizationTable steps;
    steps.fill(static_cast<std::uint8_t>(step));
    const TransformTable table(steps, 0);
    for (int level = -32768; level < 32768; level += step == 255 ? 4 : 28) {
      for (int i = 0; i < 4; ++i) levels[static_cast<std::size_t>(64 * i)] = static_cast<std::int16_t>(level + i);
      ASSERT_EQ(restore(*kernels_, levels, table, predictions), restore(scalar_, levels, table, predictions)) << level;
    }
  }
}

TEST_P(KernelParity, SsimSums) {
  for (const Content a : kContents) {
    for (const Content b : kContents) {
      for (const int blocks : {1, 2, 7, 8, 9, 16, 23}) {
        Plane first(a, 4 * blocks, 4, 4 * blocks + 3, 1);
        Plane second(b, 4 * blocks, 4, 4 * blocks + 1, 2);
        const auto run = [&](const Kernels& k) {
          std::vector<SsimSums> sums(static_cast<std::size_t>(blocks) + 2, {-7, -7, -7, -7});
          k.ssim_sums(first.view().data, first.view().pitch, second.view().data, second.view().pitch, blocks,
                      sums.data());
          std::vector<std::int32_t> flat;
          for (const SsimSums& s : sums) flat.insert(flat.end(), {s.a, s.b, s.squares, s.products});
          return flat;
        };
        EXPECT_EQ(run(*kernels_), run(scalar_)) << name_of(a) << " " << name_of(b) << " " << blocks;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, KernelParity, parity::kVectorLevels, parity::name_of_level);

}  // namespace
}  // namespace c63::cpu::kernels_test
