// Tests streams that save bits in ways that the course decoder allows: without tables, without SOF, with repeats, with
// a short SOS. The expected pictures come from CourseModel, which works like the course decoder.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <tuple>

#include "c63/settings.h"
#include "cpu/kernels.h"
#include "support/allocations.h"
#include "encode/block_statistics.h"
#include "support/coding.h"
#include "support/compact_stream.h"
#include "support/expect_error.h"

namespace c63::test::compact_stream_test {
namespace {

/// The decoding result of a frame that is expected.
struct Expected {
  Bytes picture;
  Bytes prediction;
  std::array<std::vector<MotionVector>, kPlanes> vectors;
  std::array<std::vector<std::uint8_t>, kPlanes> inter;
};

/// Works like the course decoder. A SOF begins a new, empty frame and makes the previous frame its reference. A scan
/// sets the levels and vectors of the frame. At the end of a frame, blocks that have a vector are predicted anew, the
/// others keep their old prediction. Then all blocks are reconstructed.
class CourseModel {
 public:
  explicit CourseModel(const Geometry& geometry) : geometry_(geometry) {}

  Expected decode(const CompactFrame& frame) {
    if (!frame.repeat) {
      if (frame.headers.has_sof) {
        reference_ = std::move(current_);
        current_ = blank();
        current_.key = frame.syntax.key;
      }
      current_.syntax = frame.syntax;
    }
    return rebuild(frame.tables);
  }

 private:
  struct Planes {
    bool key = false;
    FrameSyntax syntax;
    std::array<Bytes, kPlanes> predictions;
    std::array<Bytes, kPlanes> samples;
    Expected effective;  ///< includes the vectors of the predictions
  };

  [[nodiscard]] Planes blank() const {
    Planes planes;
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneGeometry g = geometry_.plane(p);
      planes.predictions[p].resize(g.samples());
      planes.samples[p].resize(g.samples());
      planes.effective.vectors[p].resize(static_cast<std::size_t>(g.blocks()));
      planes.effective.inter[p].resize(static_cast<std::size_t>(g.blocks()));
    }
    return planes;
  }

  Expected rebuild(const QuantizationTables& tables) {
    const cpu::Kernels& kernels = cpu::kernels(SimdLevel::scalar);
    for (int p = 0; p < kPlanes; ++p) {
      const PlaneSyntax& plane = current_.syntax.planes[p];
      const PlaneGeometry g = geometry_.plane(p);
      const cpu::TransformTable table(tables[p], p);
      for (int block = 0; block < g.blocks(); ++block) {
        const int x = block % g.columns * kBlockSize;
        const int y = block / g.columns * kBlockSize;
        std::uint8_t* const prediction = current_.predictions[p].data() + y * g.width + x;
        if (!current_.key && plane.uses_vector[block] != 0) {
          const MotionVector v = plane.vectors[block];
          const std::uint8_t* const from = reference_.samples[p].data() + (y + v.y) * g.width + x + v.x;
          for (int row = 0; row < kBlockSize; ++row) std::memcpy(prediction + row * g.width, from + row * g.width, kBlockSize);
          current_.effective.vectors[p][block] = v;
          current_.effective.inter[p][block] = 1;
        }
        const cpu::BlockPrediction kept{prediction, g.width};
        kernels.dequantize_reconstruct(plane.block(block), table, std::span(&kept, 1),
                                       current_.samples[p].data() + y * g.width + x, g.width);
      }
    }
    Expected expected = current_.effective;
    for (int p = 0; p < kPlanes; ++p) {
      const auto coded = static_cast<std::ptrdiff_t>(geometry_.plane(p).coded_samples);
      expected.picture.insert(expected.picture.end(), current_.samples[p].begin(), current_.samples[p].begin() + coded);
      expected.prediction.insert(expected.prediction.end(), current_.predictions[p].begin(),
                                 current_.predictions[p].begin() + coded);
    }
    return expected;
  }

  Geometry geometry_;
  Planes reference_;
  Planes current_;
};

std::vector<Expected> expect(const CompactStreamWriter& writer) {
  CourseModel model(writer.geometry());
  std::vector<Expected> all;
  for (const CompactFrame& frame : writer.frames()) all.push_back(model.decode(frame));
  return all;
}

void expect_frame(const DecodedFrame& frame, const CompactFrame& coded, const Expected& expected) {
  ASSERT_EQ(frame.picture, expected.picture) << frame.index;
  ASSERT_EQ(frame.prediction, expected.prediction) << frame.index;
  EXPECT_EQ(frame.repeat, coded.repeat);
  EXPECT_EQ(frame.key, !coded.repeat && coded.syntax.key);
  EXPECT_EQ(frame.advances_reference, !coded.repeat && coded.headers.has_sof);
  EXPECT_EQ(frame.coded_bytes, coded.bytes.size());
  for (int p = 0; p < kPlanes; ++p) {
    if (frame.key || frame.repeat) {
      EXPECT_TRUE(frame.motion[p].vectors.empty());
      continue;
    }
    EXPECT_EQ(frame.motion[p].vectors, expected.vectors[p]);
    EXPECT_EQ(frame.motion[p].inter, expected.inter[p]);
  }
}

// With sanitizers, decoding takes twenty times as long. Fuzzing finds more than these repetitions.
#if defined(C63_SANITIZED)
constexpr int kRounds = 1;
constexpr std::size_t kDamagedStreams = 300;
constexpr int kManyRepeats = 100'000;
#else
constexpr int kRounds = 3;
constexpr std::size_t kDamagedStreams = 3000;
constexpr int kManyRepeats = 1'000'000;
#endif

CompactStreamWriter random_stream(int width, int height, int frames, std::uint64_t seed) {
  CompactStreamWriter writer(width, height, seed);
  writer.add_any(frames, 8);
  return writer;
}

TEST(CompactStream, DecodesAsTheCourseDecoderDecodesIt) {
  std::uint64_t seed = 0;
  std::array<int, 4> kinds{};
  for (const auto& [width, height] :
       {std::pair{16, 16}, {48, 32}, {20, 6}, {2, 2}, {4, 1}, {16, 18}, {92, 61}, {176, 144}, {528, 32}}) {
    if (!is_codable_area(width, height)) continue;
    for (int round = 0; round < kRounds; ++round) {
      const CompactStreamWriter writer = random_stream(width, height, 30, ++seed);
      for (const CompactFrame& frame : writer.frames()) {
        ++kinds[frame.repeat ? 0 : frame.syntax.key ? 1 : frame.headers.has_sof ? 2 : 3];
      }
      const std::vector<Expected> expected = expect(writer);
      const Bytes bytes = writer.bytes();
      std::uint64_t place = seed;
      for (const SimdLevel simd : available_simd_levels()) {
        for (const int threads : {1, 2, 5}) {
          for (const std::size_t piece : {std::size_t{SIZE_MAX}, std::size_t{61}}) {
            // To save time, only the first stream is tested with all combinations. The others are tested with every
            // third one. Over several streams, each combination still occurs several times.
            if (seed != 1 && ++place % 3 != 0) continue;
            StreamSource source(bytes, piece);
            const Decoded decoded = without_error(decode_stream(
                source,
                {.execution = {.threads = threads, .simd = simd}, .keep_prediction = true, .keep_motion = true}));
            ASSERT_EQ(decoded.frames.size(), writer.frames().size());
            EXPECT_EQ(decoded.summary.bytes, bytes.size());
            for (std::size_t i = 0; i < expected.size(); ++i) {
              EXPECT_EQ(decoded.frames[i].index, static_cast<std::int64_t>(i));
              expect_frame(decoded.frames[i], writer.frames()[i], expected[i]);
              if (testing::Test::HasFatalFailure()) return;
            }
          }
        }
      }
      FrameDecoder decoder({.keep_prediction = true, .keep_motion = true});
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expect_frame(decoder.decode(writer.frames()[i].bytes), writer.frames()[i], expected[i]);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  for (const int count : kinds) EXPECT_GT(count, 17 * kRounds);  // every kind of frame occurred
}

TEST(CompactStream, DamageEndsTheSameWayHoweverItIsDecoded) {
  std::vector<Bytes> streams;
  for (std::uint64_t seed = 1000; seed < 1020; ++seed) streams.push_back(random_stream(32, 16, 10, seed).bytes());
  streams.push_back(encode(moving_video(48, 32, 3), {.coding = {.width = 48, .height = 32}}));
  Random random(3);
  int decoded_anyway = 0;
  for (std::size_t round = 0; round < kDamagedStreams; ++round) {
    Bytes bytes = streams[round % streams.size()];
    const auto size = static_cast<std::uint32_t>(bytes.size());
    if (round % 4 == 3) {  // a run of random bytes without markers
      const std::uint32_t begin = random.below(size);
      const std::uint32_t end = std::min(size, begin + 1 + random.below(300));
      for (std::uint32_t i = begin; i < end; ++i) bytes[i] = static_cast<std::uint8_t>(random.next() % 255);
    } else {
      for (std::uint32_t flips = 1 + random.below(4); flips > 0; --flips) bytes[random.below(size)] ^= static_cast<std::uint8_t>(1 + random.below(255));
    }
    DecoderSettings settings{.execution = {.threads = 1}, .keep_prediction = true, .keep_motion = true};
    settings.execution.limits.max_pixels = 1 << 16;
    const Decoded one = decode_stream(bytes, settings);
    settings.execution.threads = 3;
    const Decoded three = decode_stream(bytes, settings);
    ASSERT_EQ(one.error.has_value(), three.error.has_value()) << round;
    if (one.error) {
      EXPECT_STREQ(one.error->what(), three.error->what());
    } else {
      ++decoded_anyway;
    }
    ASSERT_EQ(one.frames.size(), three.frames.size());
    FrameDecoder alone(settings);
    for (std::size_t i = 0; i < one.frames.size(); ++i) {
      const DecodedFrame frame =
          alone.decode(std::span(bytes).subspan(one.frames[i].offset, one.frames[i].coded_bytes));
      ASSERT_EQ(one.frames[i].picture, three.frames[i].picture);
      ASSERT_EQ(one.frames[i].prediction, three.frames[i].prediction);
      ASSERT_EQ(one.frames[i].picture, frame.picture);
      ASSERT_EQ(one.frames[i].prediction, frame.prediction);
    }
  }
  EXPECT_LT(decoded_anyway, static_cast<int>(kDamagedStreams * 9 / 10));
}

const Bytes& repeat_frame() {
  static const Bytes bytes = [] {
    Bytes frame;
    write_repeat_frame(frame);
    return frame;
  }();
  return bytes;
}

TEST(CompactStream, EndlessRepeatsEndWithTheFramesThatAreWanted) {
  constexpr std::int64_t kFrames = kManyRepeats;  // if four bytes were kept for each, there would be too many
  const CompactStreamWriter writer = random_stream(16, 16, 1, 9);
  const Bytes picture = expect(writer)[0].picture;
  for (const auto& [threads, first, count] : {std::tuple{1, std::int64_t{0}, kFrames}, {3, kFrames, std::int64_t{1000}}}) {
    EndlessSource source(writer.bytes(), repeat_frame());
    DecoderSettings settings{.execution = {.threads = threads}, .first_frame = first, .max_frames = count};
    settings.execution.limits.max_memory = 1 << 20;
    std::int64_t frames = 0;
    const AllocationProbe probe;
    const DecodeSummary summary = Decoder(settings).decode(source, [&, first = first](DecodedFrame&& frame) {
      ASSERT_EQ(frame.index, first + frames);
      ASSERT_EQ(frame.picture, picture);
      ++frames;
    });
    EXPECT_EQ(frames, count);
    EXPECT_EQ(summary.frames, count);
    EXPECT_LT(probe.peak(), std::size_t{4} << 20);
    // The decoder must also not read the source much further than it decodes: at most 1 MiB.
    EXPECT_LT(source.taken(), static_cast<std::size_t>(first + count) * 4 + (1 << 20));
  }
}

TEST(CompactStream, RepeatsOfALargePictureAreCopiedOnlyIfWanted) {
  CompactStreamWriter writer(1920, 1088, 4);
  writer.add_key();
  const std::size_t picture = frame_bytes(1920, 1088);
  // All pictures of a million repeats would take 3 TB. The second kind of repeat has a pad byte, and the decoder treats
  // each of these by itself. The pictures of 2000 of them would take 6 GB.
  for (const auto& [repeat, count] : {std::pair{repeat_frame(), kManyRepeats}, {Bytes{0xFF, 0xD8, 0x00, 0xFF, 0xD9}, 2000}}) {
    EndlessSource source(writer.bytes(), repeat);
    std::int64_t frames = 0;
    DecoderSettings settings{.execution = {.threads = 2}, .first_frame = count, .max_frames = 2};
    settings.execution.limits.max_memory = 40 * picture;  // half of it is for frames that are decoded ahead
    const AllocationProbe probe;
    Decoder(settings).decode(source, [&, count = count](DecodedFrame&& frame) {
      EXPECT_EQ(frame.index, count + frames++);
      EXPECT_EQ(frame.picture.size(), picture);
    });
    EXPECT_EQ(frames, 2);
    EXPECT_LT(probe.total(), 100 * picture);
  }
}

TEST(CompactStream, RepeatsWithAPadByteAndWithoutHaveTheirPlaces) {
  Bytes bytes = random_stream(16, 16, 1, 9).bytes();
  std::vector<std::size_t> offsets = {0};
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    offsets.push_back(bytes.size());
    const Bytes repeat = random.below(4) == 0 ? Bytes{0xFF, 0xD8, 0x00, 0xFF, 0xD9} : repeat_frame();
    bytes.insert(bytes.end(), repeat.begin(), repeat.end());
  }
  offsets.push_back(bytes.size());
  for (const int threads : {1, 3}) {
    std::size_t frames = 0;
    Decoder({.execution = {.threads = threads}}).decode(bytes, [&](DecodedFrame&& frame) {
      ASSERT_LT(frames + 1, offsets.size());
      EXPECT_EQ(frame.offset, offsets[frames]);
      EXPECT_EQ(frame.coded_bytes, offsets[frames + 1] - offsets[frames]);
      ++frames;
    });
    EXPECT_EQ(frames + 1, offsets.size());
  }
}

TEST(CompactStream, GarbageBetweenRepeatsIsNamed) {
  const CompactStreamWriter writer = random_stream(16, 16, 1, 9);
  Random random(11);
  for (int round = 0; round < 5 * kRounds; ++round) {
    Bytes bytes = writer.bytes();
    const std::uint32_t repeats = random.below(3000);
    for (std::uint32_t i = 0; i < repeats; ++i) bytes.insert(bytes.end(), repeat_frame().begin(), repeat_frame().end());
    const std::size_t at = bytes.size();
    for (int i = 0; i < 10; ++i) bytes.push_back(static_cast<std::uint8_t>(random.below(0xFF)));
    for (int i = 0; i < 1000; ++i) bytes.insert(bytes.end(), repeat_frame().begin(), repeat_frame().end());
    for (const int threads : {1, 3}) {
      std::int64_t frames = 0;
      const auto error = expect_error(ErrorKind::input, "C63-NO-FRAME", [&] {
        Decoder({.execution = {.threads = threads}}).decode(bytes, [&](DecodedFrame&&) { ++frames; });
      });
      ASSERT_TRUE(error);
      EXPECT_EQ(frames, repeats + 1);
      EXPECT_EQ(error->place().frame, repeats + 1);
      EXPECT_EQ(error->place().offset, static_cast<std::int64_t>(at));
    }
  }
}

TEST(CompactStream, FrameDecoderTakesOnlyAKeyFrameAfterAFault) {
  CompactStreamWriter writer(48, 32, 6);
  writer.add_key();
  writer.add_inter();
  writer.add_inter();
  writer.add_replacing();
  writer.add_repeat();
  writer.add_key();
  const auto& frames = writer.frames();
  for (const std::size_t next : {2U, 3U, 4U}) {
    FrameDecoder decoder;
    (void)decoder.decode(frames[0].bytes);
    Bytes broken = frames[1].bytes;
    std::fill(broken.end() - 20, broken.end() - 2, std::uint8_t{0xFE});  // the scan ends in invalid codes
    EXPECT_THROW((void)decoder.decode(broken), Error);
    for (int again = 0; again < 2; ++again) {
      const auto error = expect_error(ErrorKind::input, "C63-NO-REFERENCE", [&] { (void)decoder.decode(frames[next].bytes); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->place().frame, 1);
    }
    Bytes key;
    write_frame_header(key, writer.geometry(), frames[5].tables, true);
    BitCounts bits;
    encode_scan(frames[5].syntax, key, bits);
    write_frame_trailer(key);
    EXPECT_EQ(decoder.decode(key).picture, expect(writer)[5].picture);
    EXPECT_NO_THROW((void)decoder.decode(frames[4].bytes));
  }
}

TEST(CompactStream, BlockStatisticsCountWhatIsCodedAndShowWhatIsInherited) {
  const auto sum = [](const std::vector<std::uint32_t>& bits) {
    std::uint64_t all = 0;
    for (const std::uint32_t b : bits) all += b;
    return all;
  };
  const CompactStreamWriter writer = random_stream(92, 61 + 1, 60, 21);
  const std::vector<Expected> expected = expect(writer);
  BlockAnalyser analyser;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const CompactFrame& coded = writer.frames()[i];
    const FrameBlocks blocks = analyser.analyse(coded.bytes);
    EXPECT_EQ(blocks.repeat, coded.repeat);
    EXPECT_EQ(blocks.width, 92);
    EXPECT_EQ(blocks.height, 62);
    if (coded.repeat) {
      EXPECT_FALSE(blocks.key);
      EXPECT_TRUE(blocks.planes[0].vectors.empty());
      continue;
    }
    EXPECT_EQ(blocks.key, coded.syntax.key);
    std::uint64_t motion = 0;
    for (int p = 0; p < kPlanes; ++p) {
      EXPECT_EQ(blocks.planes[p].vectors, expected[i].vectors[p]);
      EXPECT_EQ(blocks.planes[p].inter, expected[i].inter[p]);
      motion += sum(blocks.planes[p].motion_bits);
    }
    EXPECT_EQ(motion, coded.bits.motion);
    EXPECT_EQ(sum(blocks.planes[0].coefficient_bits), coded.bits.luma);
    EXPECT_EQ(sum(blocks.planes[1].coefficient_bits) + sum(blocks.planes[2].coefficient_bits), coded.bits.chroma);
    const KindBits& kinds = blocks.bits;
    EXPECT_EQ(kinds.flags + kinds.vectors, coded.bits.motion);
    EXPECT_EQ(kinds.dc + kinds.ac + kinds.end_of_block, coded.bits.luma + coded.bits.chroma);
    EXPECT_EQ(kinds.sum(), 8 * coded.bytes.size());
  }
}

}  // namespace
}  // namespace c63::test::compact_stream_test
