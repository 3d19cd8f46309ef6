#include "bench/cpu_probe.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace c63::bench {
namespace {

constexpr double kCodes = 100000;

/// The least work of a decoder of prefix codes: get the next bits, look up the length of the code, advance by it.
void code_chain() {
  static const std::array<std::uint32_t, 2048> lengths = [] {
    std::array<std::uint32_t, 2048> all{};
    std::ranges::fill(all, 5U);
    return all;
  }();
  std::uint64_t window = 0x0123456789ABCDEF;
  for (int i = 0; i < static_cast<int>(kCodes); ++i) {
    window = window << lengths[window >> 53] | 21;
    asm volatile("" : "+r"(window));
  }
}

CeilingProbe code_probe() { return {"code by code", Limit::codes, SimdLevel::scalar, kCodes, code_chain}; }

}  // namespace

#if defined(__x86_64__)
namespace {

constexpr int kRounds = 20000;

// A loop in which each of eight sums gets an addend once a round. The sums are independent and the operands never change, so
// only the execution units limit the loop. It is in assembler, because a compiler would see that each round computes the same.
// FOUR computes four addends (operands 8 to 11) of A and B (12 and 13); ADD adds one of them to a sum.
#define C63_ADDING_LOOP(NAME, TARGET, VECTOR, A, B, FOUR, ADD)                                                             \
  __attribute__((target(TARGET))) void NAME() {                                                                            \
    VECTOR s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, t0, t1, t2, t3;                                                 \
    const VECTOR a = A, b = B;                                                                                             \
    for (int i = 0; i < kRounds; ++i) {                                                                                    \
      asm volatile(FOUR ADD("%8", "%0") ADD("%9", "%1") ADD("%10", "%2") ADD("%11", "%3")                                  \
                   FOUR ADD("%8", "%4") ADD("%9", "%5") ADD("%10", "%6") ADD("%11", "%7")                                  \
                   : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7), "=&v"(t0), "=&v"(t1), \
                     "=&v"(t2), "=&v"(t3)                                                                                  \
                   : "v"(a), "v"(b));                                                                                      \
    }                                                                                                                      \
  }

#define C63_OF_TWO(OPERATION, TO) OPERATION " %13, %12, " TO "\n"
#define C63_FOUR(FIRST, SECOND) \
  C63_OF_TWO(FIRST, "%8") C63_OF_TWO(SECOND, "%9") C63_OF_TWO(FIRST, "%10") C63_OF_TWO(SECOND, "%11")
#define C63_ADD_WORDS(FROM, SUM) "vpaddw " FROM ", " SUM ", " SUM "\n"
#define C63_ADD_DOUBLE_WORDS(FROM, SUM) "vpaddd " FROM ", " SUM ", " SUM "\n"
#define C63_ADD_FLOATS(FROM, SUM) "vaddps " FROM ", " SUM ", " SUM "\n"
C63_ADDING_LOOP(differences_zmm, "avx512f,avx512bw", __m512i, _mm512_set1_epi32(0x01020304), _mm512_set1_epi32(0x04030201),
                C63_FOUR("vdbpsadbw $0x94,", "vdbpsadbw $0xE9,"), C63_ADD_WORDS)
C63_ADDING_LOOP(differences_ymm, "avx2", __m256i, _mm256_set1_epi32(0x01020304), _mm256_set1_epi32(0x04030201),
                C63_FOUR("vpsadbw", "vpsadbw"), C63_ADD_DOUBLE_WORDS)
C63_ADDING_LOOP(octets_ymm, "avx2", __m256i, _mm256_set1_epi32(0x01020304), _mm256_set1_epi32(0x04030201),
                C63_FOUR("vmpsadbw $0x00,", "vmpsadbw $0x2D,"), C63_ADD_WORDS)
C63_ADDING_LOOP(floats_zmm, "avx512f", __m512, _mm512_set1_ps(1), a, C63_FOUR("vmulps", "vmulps"), C63_ADD_FLOATS)
C63_ADDING_LOOP(floats_ymm, "avx2", __m256, _mm256_set1_ps(1), a, C63_FOUR("vmulps", "vmulps"), C63_ADD_FLOATS)

// SSE's mulps overwrites an operand, so moves fill the registers again before the products. Moves use no execution unit.
#define C63_SSE_PRODUCT(TO) "movaps %12, " TO "\n mulps %13, " TO "\n"
#define C63_SSE_ADD(FROM, SUM) "addps " FROM ", " SUM "\n"
C63_ADDING_LOOP(floats_xmm, "sse2", __m128, _mm_set1_ps(1), a,
                C63_SSE_PRODUCT("%8") C63_SSE_PRODUCT("%9") C63_SSE_PRODUCT("%10") C63_SSE_PRODUCT("%11"), C63_SSE_ADD)

/// How often one run reads all samples. A single pass would be too short.
constexpr int kPasses = 16;

#define C63_LOADING_LOOP(NAME, TARGET, VECTOR, LOAD)                                                             \
  __attribute__((target(TARGET))) void NAME(std::span<const std::uint8_t> samples) {                             \
    for (int pass = 0; pass < kPasses; ++pass) {                                                                 \
      for (std::size_t i = 0; i + 4 * sizeof(VECTOR) <= samples.size(); i += 4 * sizeof(VECTOR)) {               \
        const auto* const from = reinterpret_cast<const VECTOR*>(samples.data() + i);                            \
        VECTOR to;                                                                                               \
        asm volatile(LOAD " %1, %0\n " LOAD " %2, %0\n " LOAD " %3, %0\n " LOAD " %4, %0"                        \
                     : "=v"(to)                                                                                  \
                     : "m"(from[0]), "m"(from[1]), "m"(from[2]), "m"(from[3]));                                  \
      }                                                                                                          \
    }                                                                                                            \
  }
C63_LOADING_LOOP(loads_zmm, "avx512f", __m512i, "vmovdqu64")
C63_LOADING_LOOP(loads_ymm, "avx2", __m256i, "vmovdqu")
C63_LOADING_LOOP(loads_xmm, "sse2", __m128i, "movdqu")

}  // namespace

std::vector<CeilingProbe> ceiling_probes(std::span<const std::uint8_t> samples) {
  std::vector<CeilingProbe> probes = {code_probe()};
  const auto loads = static_cast<double>(kPasses * samples.size());
  const auto add = [&](SimdLevel level, const char* load, void (*loading)(std::span<const std::uint8_t>), const char* product,
                       double floats, void (*multiplying)()) {
    probes.push_back({load, Limit::loads, level, loads, [loading, samples] { loading(samples); }});
    probes.push_back({product, Limit::float_operations, level, kRounds * 16.0 * floats, multiplying});
  };
  add(SimdLevel::sse4, "load xmm", loads_xmm, "mulps + addps xmm", 4, floats_xmm);
  if (__builtin_cpu_supports("avx2") != 0) {
    probes.push_back(
        {"vpsadbw ymm + add", Limit::absolute_differences, SimdLevel::avx2, kRounds * 8.0 * 32, differences_ymm});
    // The instruction of the search with bounds. On some CPUs, it computes fewer differences than vpsadbw.
    probes.push_back({"vmpsadbw ymm + add", Limit::absolute_differences, SimdLevel::avx2, kRounds * 8.0 * 64, octets_ymm});
    add(SimdLevel::avx2, "load ymm", loads_ymm, "vmulps + vaddps ymm", 8, floats_ymm);
  }
  if (__builtin_cpu_supports("avx512bw") != 0) {
    probes.push_back(
        {"vdbpsadbw zmm + add", Limit::absolute_differences, SimdLevel::avx512, kRounds * 8.0 * 128, differences_zmm});
    add(SimdLevel::avx512, "load zmm", loads_zmm, "vmulps + vaddps zmm", 16, floats_zmm);
  }
  return probes;
}

void run_clock(std::uint64_t count) {
  // The addend is in a register, because Intel CPUs since Golden Cove add several constants in one cycle.
  std::uint64_t value = 0;
  const std::uint64_t one = 1;
  for (std::uint64_t i = 0; i < count; i += 16) {
    asm volatile(
        "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
        "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
        : "+r"(value)
        : "r"(one));
  }
}

#else

std::vector<CeilingProbe> ceiling_probes(std::span<const std::uint8_t>) { return {code_probe()}; }

void run_clock(std::uint64_t count) {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < count; ++i) asm volatile("add %0, %0, #1" : "+r"(value));
}

#endif

}  // namespace c63::bench
