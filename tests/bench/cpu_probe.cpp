#include "bench/cpu_probe.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace c63::bench {

#if defined(__x86_64__)
namespace {

constexpr int kRounds = 20000;

// The sums are independent and the operands fixed, so nothing but the execution units limits these loops. Written in
// assembler: a compiler would see that every round does the same.

__attribute__((target("avx512f,avx512bw"))) void probe_dbsad() {
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

__attribute__((target("avx2"))) void probe_sad() {
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

}  // namespace

std::vector<CeilingProbe> ceiling_probes() {
  std::vector<CeilingProbe> probes;
  if (__builtin_cpu_supports("avx2") != 0) probes.push_back({"vpsadbw ymm + add", kRounds * 8.0 * 32, probe_sad});
  if (__builtin_cpu_supports("avx512bw") != 0) {
    probes.push_back({"vdbpsadbw zmm + add", kRounds * 8.0 * 128, probe_dbsad});
  }
  return probes;
}

void run_clock(std::uint64_t count) {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < count; i += 16) {
    asm volatile(
        "add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
        "add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
        : "+r"(value));
  }
}

#else

std::vector<CeilingProbe> ceiling_probes() { return {}; }

void run_clock(std::uint64_t count) {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < count; ++i) asm volatile("add %0, %0, #1" : "+r"(value));
}

#endif

}  // namespace c63::bench
