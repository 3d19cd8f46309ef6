// A scan can end in three ways (docs/bitstream.md, "The end of the scan"). In each case the GPU must write the same end
// as the CPU.

#include <array>

#include "backend_test_support.h"
#include "codec/dct.h"
#include "codec/quantization.h"

namespace c63::cuda {
namespace {

using test::Bytes;

enum class Ending { nothing_written, extra_byte, filled_byte };

/// Returns in which way the only scan of a stream ended. This follows from the number of coded bits and of written
/// bytes.
Ending ending_of(const EncodedFrame& frame) {
  const BitCounts& bits = frame.statistics.bits;
  const std::uint64_t coded = bits.motion + bits.luma + bits.chroma;
  std::size_t scan = 0;  // bytes of the scan without stuffing
  for (std::size_t i = 655; i + 2 < frame.bytes.size(); ++i) {
    ++scan;
    if (frame.bytes[i] == 0xFF) ++i;
  }
  if (scan * 8 <= coded) return Ending::nothing_written;
  return scan * 8 == coded + 8 ? Ending::extra_byte : Ending::filled_byte;
}

/// Returns a picture of one MCU. Its last Y block aims at level `base` at zig-zag index 0 and at level -1 from index 56
/// on. Each unit of `jitter` makes the coefficients of the -1 levels 2 % larger. Samples are whole numbers from 0 to 255,
/// so the block only comes near these levels. All other blocks are flat.
Bytes picture_with_long_tail(int base, int jitter) {
  const QuantizationTable steps = make_quantization_tables(25)[0];
  float coefficients[64] = {};
  coefficients[0] = static_cast<float>(dequantize(base, steps[0]));
  for (int k = 56; k < 64; ++k) {
    coefficients[kZigZag[k]] =
        static_cast<float>(dequantize(-1, steps[k])) * (1.0F + 0.02F * static_cast<float>(jitter));
  }
  std::int16_t block[64];
  inverse_dct(coefficients, block, kDctCosines);
  Bytes frame(frame_bytes(16, 16), 0);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int sample = block[y * 8 + x];
      frame[static_cast<std::size_t>((y + 8) * 16 + x + 8)] = static_cast<std::uint8_t>(sample < 0     ? 0
                                                                                        : sample > 255 ? 255
                                                                                                       : sample);
    }
  }
  return frame;
}

TEST_F(BackendTest, EndsEveryScanAsTheCpuDoes) {
  const EncoderSettings settings{.coding = {.width = 16, .height = 16}};
  std::array<int, 3> seen{};
  const auto compare = [&](const Bytes& picture) {
    const Encoded cpu = on_cpu(settings, picture);
    ++seen[static_cast<std::size_t>(ending_of(cpu.frames[0]))];
    EXPECT_TRUE(same_bytes(cpu.stream(), on_gpu(settings, picture).stream()));
  };
  for (int base = 8; base < 64; base += 2) {
    for (int jitter = 0; jitter < 10; ++jitter) {
      const Bytes picture = picture_with_long_tail(base, jitter);
      if (jitter == 0 || ending_of(on_cpu(settings, picture).frames[0]) == Ending::nothing_written) compare(picture);
    }
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) compare(test::random_video(16, 16, 1, seed));
  EXPECT_GT(seen[static_cast<std::size_t>(Ending::nothing_written)], 0);
  EXPECT_GT(seen[static_cast<std::size_t>(Ending::extra_byte)], 0);
  EXPECT_GT(seen[static_cast<std::size_t>(Ending::filled_byte)], 0);
}

}  // namespace
}  // namespace c63::cuda
