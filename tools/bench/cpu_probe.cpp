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

// The sums are independent and the operands never change, so only the execution units limit these loops. They are in
// assembler, because a compiler would see that each round computes the same.

__attribute__((target("avx512f,avx512bw"))) void differences_zmm() {
  __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  const __m512i a = _mm512_set1_epi32(0x01020304);
  const __m512i b = _mm512_set1_epi32(0x04030201);
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        "vdbpsadbw $0x94, %9, %8, %%zmm16\n vdbpsadbw $0xE9, %9, %8, %%zmm17\n"
        "vdbpsadbw $0x94, %9, %8, %%zmm18\n vdbpsadbw $0xE9, %9, %8, %%zmm19\n"
        "vpaddw %%zmm16, %0, %0\n vpaddw %%zmm17, %1, %1\n vpaddw %%zmm18, %2, %2\n vpaddw %%zmm19, %3, %3\n"
        "vdbpsadbw $0x94, %9, %8, %%zmm20\n vdbpsadbw $0xE9, %9, %8, %%zmm21\n"
        "vdbpsadbw $0x94, %9, %8, %%zmm22\n vdbpsadbw $0xE9, %9, %8, %%zmm23\n"
        "vpaddw %%zmm20, %4, %4\n vpaddw %%zmm21, %5, %5\n vpaddw %%zmm22, %6, %6\n vpaddw %%zmm23, %7, %7\n"
        : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7)
        : "v"(a), "v"(b)
        : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23");
  }
}

__attribute__((target("avx2"))) void differences_ymm() {
  __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
  const __m256i a = _mm256_set1_epi32(0x01020304);
  const __m256i b = _mm256_set1_epi32(0x04030201);
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        "vpsadbw %5, %4, %%ymm8\n vpsadbw %5, %4, %%ymm9\n vpsadbw %5, %4, %%ymm10\n vpsadbw %5, %4, %%ymm11\n"
        "vpaddd %%ymm8, %0, %0\n vpaddd %%ymm9, %1, %1\n vpaddd %%ymm10, %2, %2\n vpaddd %%ymm11, %3, %3\n"
        "vpsadbw %5, %4, %%ymm12\n vpsadbw %5, %4, %%ymm13\n vpsadbw %5, %4, %%ymm14\n vpsadbw %5, %4, %%ymm15\n"
        "vpaddd %%ymm12, %0, %0\n vpaddd %%ymm13, %1, %1\n vpaddd %%ymm14, %2, %2\n vpaddd %%ymm15, %3, %3\n"
        : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3)
        : "x"(a), "x"(b)
        : "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
}

__attribute__((target("avx512f"))) void floats_zmm() {
  const __m512 a = _mm512_set1_ps(1.0F);
  __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        "vmulps %8, %8, %%zmm16\n vmulps %8, %8, %%zmm17\n vmulps %8, %8, %%zmm18\n vmulps %8, %8, %%zmm19\n"
        "vaddps %%zmm16, %0, %0\n vaddps %%zmm17, %1, %1\n vaddps %%zmm18, %2, %2\n vaddps %%zmm19, %3, %3\n"
        "vmulps %8, %8, %%zmm20\n vmulps %8, %8, %%zmm21\n vmulps %8, %8, %%zmm22\n vmulps %8, %8, %%zmm23\n"
        "vaddps %%zmm20, %4, %4\n vaddps %%zmm21, %5, %5\n vaddps %%zmm22, %6, %6\n vaddps %%zmm23, %7, %7\n"
        : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7)
        : "v"(a)
        : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23");
  }
}

__attribute__((target("avx2"))) void floats_ymm() {
  const __m256 a = _mm256_set1_ps(1.0F);
  __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        "vmulps %8, %8, %%ymm9\n vmulps %8, %8, %%ymm10\n vmulps %8, %8, %%ymm11\n vmulps %8, %8, %%ymm12\n"
        "vaddps %%ymm9, %0, %0\n vaddps %%ymm10, %1, %1\n vaddps %%ymm11, %2, %2\n vaddps %%ymm12, %3, %3\n"
        "vmulps %8, %8, %%ymm9\n vmulps %8, %8, %%ymm10\n vmulps %8, %8, %%ymm11\n vmulps %8, %8, %%ymm12\n"
        "vaddps %%ymm9, %4, %4\n vaddps %%ymm10, %5, %5\n vaddps %%ymm11, %6, %6\n vaddps %%ymm12, %7, %7\n"
        : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "+x"(s4), "+x"(s5), "+x"(s6), "+x"(s7)
        : "x"(a)
        : "xmm9", "xmm10", "xmm11", "xmm12");
  }
}

/// SSE's mulps overwrites an operand, so moves fill the registers again before the next products. Moves use no
/// execution unit.
void floats_xmm() {
  const __m128 a = _mm_set1_ps(1.0F);
  __m128 s0 = _mm_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        "movaps %8, %%xmm9\n movaps %8, %%xmm10\n movaps %8, %%xmm11\n movaps %8, %%xmm12\n"
        "mulps %8, %%xmm9\n mulps %8, %%xmm10\n mulps %8, %%xmm11\n mulps %8, %%xmm12\n"
        "addps %%xmm9, %0\n addps %%xmm10, %1\n addps %%xmm11, %2\n addps %%xmm12, %3\n"
        "movaps %8, %%xmm9\n movaps %8, %%xmm10\n movaps %8, %%xmm11\n movaps %8, %%xmm12\n"
        "mulps %8, %%xmm9\n mulps %8, %%xmm10\n mulps %8, %%xmm11\n mulps %8, %%xmm12\n"
        "addps %%xmm9, %4\n addps %%xmm10, %5\n addps %%xmm11, %6\n addps %%xmm12, %7\n"
        : "+x"(s0), "+x"(s1), "+x"(s2), "+x"(s3), "+x"(s4), "+x"(s5), "+x"(s6), "+x"(s7)
        : "x"(a)
        : "xmm9", "xmm10", "xmm11", "xmm12");
  }
}

/// How often one run reads all samples. A single pass would be too short.
constexpr int kPasses = 16;

__attribute__((target("avx512f"))) void loads_zmm(std::span<const std::uint8_t> samples) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i + 256 <= samples.size(); i += 256) {
      asm volatile(
          "vmovdqu64 (%0), %%zmm16\n vmovdqu64 64(%0), %%zmm16\n vmovdqu64 128(%0), %%zmm16\n vmovdqu64 192(%0), "
          "%%zmm16"
          :
          : "r"(samples.data() + i)
          : "xmm16", "memory");
    }
  }
}

__attribute__((target("avx2"))) void loads_ymm(std::span<const std::uint8_t> samples) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i + 128 <= samples.size(); i += 128) {
      asm volatile("vmovdqu (%0), %%ymm8\n vmovdqu 32(%0), %%ymm8\n vmovdqu 64(%0), %%ymm8\n vmovdqu 96(%0), %%ymm8"
                   :
                   : "r"(samples.data() + i)
                   : "xmm8", "memory");
    }
  }
}

void loads_xmm(std::span<const std::uint8_t> samples) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i + 64 <= samples.size(); i += 64) {
      asm volatile("movdqu (%0), %%xmm8\n movdqu 16(%0), %%xmm8\n movdqu 32(%0), %%xmm8\n movdqu 48(%0), %%xmm8"
                   :
                   : "r"(samples.data() + i)
                   : "xmm8", "memory");
    }
  }
}

}  // namespace

std::vector<CeilingProbe> ceiling_probes(std::span<const std::uint8_t> samples) {
  std::vector<CeilingProbe> probes = {code_probe()};
  const auto loads = static_cast<double>(kPasses * samples.size());
  probes.push_back({"load xmm", Limit::loads, SimdLevel::sse4, loads, [samples] { loads_xmm(samples); }});
  probes.push_back({"mulps + addps xmm", Limit::float_operations, SimdLevel::sse4, kRounds * 16.0 * 4, floats_xmm});
  if (__builtin_cpu_supports("avx2") != 0) {
    probes.push_back(
        {"vpsadbw ymm + add", Limit::absolute_differences, SimdLevel::avx2, kRounds * 8.0 * 32, differences_ymm});
    probes.push_back({"load ymm", Limit::loads, SimdLevel::avx2, loads, [samples] { loads_ymm(samples); }});
    probes.push_back({"vmulps + vaddps ymm", Limit::float_operations, SimdLevel::avx2, kRounds * 16.0 * 8, floats_ymm});
  }
  if (__builtin_cpu_supports("avx512bw") != 0) {
    probes.push_back(
        {"vdbpsadbw zmm + add", Limit::absolute_differences, SimdLevel::avx512, kRounds * 8.0 * 128, differences_zmm});
    probes.push_back({"load zmm", Limit::loads, SimdLevel::avx512, loads, [samples] { loads_zmm(samples); }});
    probes.push_back(
        {"vmulps + vaddps zmm", Limit::float_operations, SimdLevel::avx512, kRounds * 16.0 * 16, floats_zmm});
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
