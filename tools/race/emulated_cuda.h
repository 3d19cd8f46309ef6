// What a file sees of CUDA when `c63bench me --emulate` or `c63bench nvcc` compiles it for the CPU. The compiler's thread sanitizer calls
// __tsan_read4() and similar functions before each access to memory. This file defines these functions. They report the
// access to the emulated GPU. The words of CUDA (__shared__, __global__, ...) and inline PTX are replaced in the preprocessed
// file (emulated_source.cpp).
#pragma once

/// Threads, blocks or a size in three directions.
struct uint3 {
  unsigned x, y, z;
};

enum : unsigned { kC63SharedBytes = 228 * 1024 };  // of a multiprocessor of an H100
enum : unsigned { kC63Read = 1, kC63Write = 2, kC63Together = 4 };  // together: volatile or atomic
enum : unsigned { kC63Shuffle, kC63Ballot, kC63Add, kC63Min, kC63Max, kC63And, kC63Or, kC63Xor, kC63Barrier };

/// The functions of the emulated GPU. `from` is the place in the code that calls.
struct C63EmulatedGpu {
  uint3 (*place)(int what);  // 0: threadIdx, 1: blockIdx, 2: blockDim, 3: gridDim
  void (*access)(const void* at, unsigned long bytes, unsigned kind, void* from);
  void (*out_of_array)(void* from);
  // Waits for all threads of the block. Returns how many have passed another value than 0.
  unsigned (*barrier)(unsigned value, void* from);
  // Waits for the lanes of the mask. Returns their values as `what` says: that of lane `source`, or all as one.
  unsigned long long (*exchange)(unsigned what, unsigned mask, unsigned long long value, unsigned source, void* from);
  // Asynchronous copies to shared memory. They are done as late as the program permits.
  void (*copy)(void* to, const void* from_memory, unsigned bytes, void* from);
  void (*end_copies)();
  void (*wait_copies)(unsigned left);
  // For whole programs (emulated_runtime.h). Errors are those of CUDA.
  int (*launch)(void (*kernel)(void*), void* data, uint3 grid, uint3 block, unsigned long shared_bytes);
  void* (*allocate)(unsigned long bytes, bool is_managed);
  int (*release)(void* at);
  bool (*is_device)(const void* at);
  int (*transfer)(void* to, const void* from_memory, unsigned long bytes, int value, void* from);  // from_memory null: fills with the value
};

#if defined(__CUDACC__)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// For functions that are seen as one instruction: their own accesses to memory do not count.
#define C63_CALLED static __attribute__((noinline, unused, no_sanitize("thread", "undefined")))
#define C63_HERE __builtin_return_address(0)
// A program may have several such files.
#define C63_HOOK extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread", "undefined")))
#define C63_SEEN __attribute__((weak, visibility("default")))

extern "C" {
C63_SEEN const C63EmulatedGpu* c63_emulated_gpu;
// All shared memory is in one section, because blocks run one after another.
C63_SEEN __attribute__((section("c63_shared"), aligned(1024))) unsigned char c63_emulated_shared[kC63SharedBytes] = {};
extern __attribute__((visibility("hidden"))) unsigned char __start_c63_shared[], __stop_c63_shared[];
C63_SEEN unsigned char* c63_emulated_shared_begin = __start_c63_shared;
C63_SEEN unsigned char* c63_emulated_shared_end = __stop_c63_shared;
}

// ---- What the sanitizers call ----

#define C63_HOOKS(bytes)                                                                                             \
  C63_HOOK void __tsan_read##bytes(void* at) { c63_emulated_gpu->access(at, bytes, kC63Read, C63_HERE); }            \
  C63_HOOK void __tsan_write##bytes(void* at) { c63_emulated_gpu->access(at, bytes, kC63Write, C63_HERE); }          \
  C63_HOOK void __tsan_unaligned_read##bytes(void* at) { c63_emulated_gpu->access(at, bytes, kC63Read, C63_HERE); }  \
  C63_HOOK void __tsan_unaligned_write##bytes(void* at) { c63_emulated_gpu->access(at, bytes, kC63Write, C63_HERE); } \
  C63_HOOK void __tsan_volatile_read##bytes(void* at) {                                                              \
    c63_emulated_gpu->access(at, bytes, kC63Read | kC63Together, C63_HERE);                                          \
  }                                                                                                                  \
  C63_HOOK void __tsan_volatile_write##bytes(void* at) {                                                             \
    c63_emulated_gpu->access(at, bytes, kC63Write | kC63Together, C63_HERE);                                         \
  }
C63_HOOKS(1)
C63_HOOKS(2)
C63_HOOKS(4)
C63_HOOKS(8)
C63_HOOKS(16)
C63_HOOK void __tsan_read_range(void* at, unsigned long bytes) { c63_emulated_gpu->access(at, bytes, kC63Read, C63_HERE); }
C63_HOOK void __tsan_write_range(void* at, unsigned long bytes) { c63_emulated_gpu->access(at, bytes, kC63Write, C63_HERE); }
C63_HOOK void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  c63_emulated_gpu->access(from, bytes, kC63Read, C63_HERE);
  c63_emulated_gpu->access(to, bytes, kC63Write, C63_HERE);
  return memcpy(to, from, bytes);
}
C63_HOOK void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  c63_emulated_gpu->access(from, bytes, kC63Read, C63_HERE);
  c63_emulated_gpu->access(to, bytes, kC63Write, C63_HERE);
  return memmove(to, from, bytes);
}
C63_HOOK void* __tsan_memset(void* to, int value, unsigned long bytes) {
  c63_emulated_gpu->access(to, bytes, kC63Write, C63_HERE);
  return memset(to, value, bytes);
}
C63_HOOK void __tsan_init() {}
C63_HOOK void __tsan_func_entry(void*) {}
C63_HOOK void __tsan_func_exit() {}
C63_HOOK void __ubsan_handle_out_of_bounds(void*, unsigned long) { c63_emulated_gpu->out_of_array(C63_HERE); }

/// A type that is not deduced from an argument.
template <typename T>
struct C63As {
  using type = T;
  using value = T;
};

// ---- Threads ----

struct dim3 : uint3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : uint3{x, y, z} {}
  constexpr dim3(uint3 size) : uint3(size) {}
};
constexpr int warpSize = 32;
C63_CALLED __attribute__((const)) uint3 c63_place(int what) { return c63_emulated_gpu->place(what); }
#define threadIdx c63_place(0)
#define blockIdx c63_place(1)
#define blockDim c63_place(2)
#define gridDim c63_place(3)

C63_CALLED void __syncthreads() { c63_emulated_gpu->barrier(0, C63_HERE); }
C63_CALLED int __syncthreads_count(int value) { return (int)c63_emulated_gpu->barrier(value != 0, C63_HERE); }
C63_CALLED int __syncthreads_or(int value) { return c63_emulated_gpu->barrier(value != 0, C63_HERE) != 0; }
C63_CALLED int __syncthreads_and(int value) { return c63_emulated_gpu->barrier(value == 0, C63_HERE) == 0; }
inline void __threadfence() {}
inline void __threadfence_block() {}

C63_CALLED void __syncwarp(unsigned mask = 0xFFFFFFFF) { c63_emulated_gpu->exchange(kC63Barrier, mask, 0, 0, C63_HERE); }
C63_CALLED unsigned c63_lane() {
  const uint3 at = c63_emulated_gpu->place(0), size = c63_emulated_gpu->place(2);
  return (at.x + size.x * (at.y + size.y * at.z)) % 32;
}
#define C63_SHUFFLE(name, type, argument, other)                                                     \
  template <typename T>                                                                             \
  C63_CALLED T name(unsigned mask, T value, type argument, int width = 32) {                        \
    const int lane = (int)c63_lane(), first = lane & -width;                                        \
    int source = other;                                                                             \
    if (source < first || source >= first + width) source = lane;                                   \
    unsigned long long bits = 0;                                                                    \
    memcpy(&bits, &value, sizeof value);                                                            \
    bits = c63_emulated_gpu->exchange(kC63Shuffle, mask, bits, (unsigned)source, C63_HERE);         \
    memcpy(&value, &bits, sizeof value);                                                            \
    return value;                                                                                   \
  }
C63_SHUFFLE(__shfl_sync, int, source_lane, first + (source_lane & (width - 1)))
C63_SHUFFLE(__shfl_up_sync, unsigned, delta, lane - (int)delta)
C63_SHUFFLE(__shfl_down_sync, unsigned, delta, lane + (int)delta)
C63_SHUFFLE(__shfl_xor_sync, int, lanes, lane ^ lanes)
#define C63_VOTE(name, what, value_of, result)                                                            \
  C63_CALLED auto name(unsigned mask, int value) {                                                        \
    const auto all = (unsigned)c63_emulated_gpu->exchange(what, mask, value_of, 0, C63_HERE);             \
    return result;                                                                                        \
  }
C63_VOTE(__ballot_sync, kC63Ballot, value != 0, all)
C63_VOTE(__any_sync, kC63Or, value != 0, (int)all)
C63_VOTE(__all_sync, kC63And, value != 0, (int)all)
// The least signed number is the least unsigned one after a change of the sign's bit.
#define C63_REDUCE(name, what)                                                                            \
  template <typename T>                                                                                   \
  C63_CALLED T name(unsigned mask, T value) {                                                             \
    const unsigned sign = T(-1) < T(0) && (what == kC63Min || what == kC63Max) ? 0x80000000 : 0;   \
    return (T)((unsigned)c63_emulated_gpu->exchange(what, mask, (unsigned)value ^ sign, 0, C63_HERE) ^ sign); \
  }
C63_REDUCE(__reduce_add_sync, kC63Add)
C63_REDUCE(__reduce_min_sync, kC63Min)
C63_REDUCE(__reduce_max_sync, kC63Max)
C63_REDUCE(__reduce_and_sync, kC63And)
C63_REDUCE(__reduce_or_sync, kC63Or)
C63_REDUCE(__reduce_xor_sync, kC63Xor)

#define C63_ATOMIC(name, next)                                                                           \
  template <typename T>                                                                                  \
  C63_CALLED T name(T* at, typename C63As<T>::type value) {                                              \
    c63_emulated_gpu->access(at, sizeof(T), kC63Read | kC63Write | kC63Together, C63_HERE);              \
    const T old = *at;                                                                                   \
    *at = next;                                                                                          \
    return old;                                                                                          \
  }
C63_ATOMIC(atomicAdd, old + value)
C63_ATOMIC(atomicSub, old - value)
C63_ATOMIC(atomicMin, value < old ? value : old)
C63_ATOMIC(atomicMax, value > old ? value : old)
C63_ATOMIC(atomicAnd, old & value)
C63_ATOMIC(atomicOr, old | value)
C63_ATOMIC(atomicXor, old ^ value)
C63_ATOMIC(atomicExch, value)
template <typename T>
C63_CALLED T atomicCAS(T* at, typename C63As<T>::type expected, typename C63As<T>::type value) {
  c63_emulated_gpu->access(at, sizeof(T), kC63Read | kC63Write | kC63Together, C63_HERE);
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}

// ---- Asynchronous copies ----

C63_CALLED void __pipeline_memcpy_async(void* to, const void* from, unsigned long bytes) {
  c63_emulated_gpu->copy(to, from, (unsigned)bytes, C63_HERE);
}
C63_CALLED void __pipeline_commit() { c63_emulated_gpu->end_copies(); }
C63_CALLED void __pipeline_wait_prior(unsigned left) { c63_emulated_gpu->wait_copies(left); }
C63_CALLED unsigned long __cvta_generic_to_shared(const void* at) { return (unsigned long)((const unsigned char*)at - __start_c63_shared); }

// ---- Arithmetic ----

template <typename A, typename B>
constexpr auto min(A a, B b) {
  using T = decltype(true ? a : b);
  return (T)b < (T)a ? (T)b : (T)a;
}
template <typename A, typename B>
constexpr auto max(A a, B b) {
  using T = decltype(true ? a : b);
  return (T)a < (T)b ? (T)b : (T)a;
}
inline unsigned c63_byte(unsigned word, int i) { return word >> 8 * i & 255; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline unsigned __sad(int a, int b, unsigned c) { return (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b) + c; }
inline unsigned __vsadu4(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (int i = 0; i < 4; ++i) sum = __usad(c63_byte(a, i), c63_byte(b, i), sum);
  return sum;
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
  unsigned all = 0;
  for (int i = 0; i < 4; ++i) all |= __usad(c63_byte(a, i), c63_byte(b, i), 0) << 8 * i;
  return all;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += c63_byte(a, i) * c63_byte(b, i);
  return c;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += (signed char)c63_byte((unsigned)a, i) * (signed char)c63_byte((unsigned)b, i);
  return c;
}
inline unsigned c63_funnel(unsigned low, unsigned high, unsigned right) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> right);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) { return c63_funnel(low, high, shift & 31); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) { return c63_funnel(low, high, 32 - (shift & 31)); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned choice) {
  unsigned all = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned which = choice >> 4 * i & 15;
    const unsigned byte = c63_byte((which & 4) != 0 ? b : a, which & 3);
    all |= ((which & 8) != 0 ? (byte >> 7) * 255 : byte) << 8 * i;
  }
  return all;
}
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
template <typename T>
__attribute__((always_inline)) inline T __ldg(const T* at) {
  return *at;
}
#define C63_VECTOR(type, element)                                                                              \
  struct alignas(4 * sizeof(element)) type##4 { element x, y, z, w; };                                         \
  struct alignas(2 * sizeof(element)) type##2 { element x, y; };                                               \
  inline type##4 make_##type##4(element x, element y, element z, element w) { return {x, y, z, w}; }            \
  inline type##2 make_##type##2(element x, element y) { return {x, y}; }
C63_VECTOR(uchar, unsigned char)
C63_VECTOR(ushort, unsigned short)
C63_VECTOR(short, short)
C63_VECTOR(uint, unsigned)
C63_VECTOR(int, int)

// ---- Inline PTX ----

enum : int { kC63Vabsdiff4 = 1, kC63Dp4a, kC63Copy, kC63EndCopies, kC63WaitCopies, kC63WaitAll };
/// Returns the number of the instruction in the lowest byte, above it the last number in its text; 0 if it is not emulated.
constexpr int c63_ptx_of(const char* text) {
  struct Known {
    const char* name;
    int number;
  };
  constexpr Known kKnown[] = {{"vabsdiff4.u32.u32.u32.add", kC63Vabsdiff4}, {"dp4a.u32.u32", kC63Dp4a},
                              {"cp.async.ca.shared.global", kC63Copy},      {"cp.async.cg.shared.global", kC63Copy},
                              {"cp.async.commit_group", kC63EndCopies},     {"cp.async.wait_group", kC63WaitCopies},
                              {"cp.async.wait_all", kC63WaitAll}};
  while (*text == ' ' || *text == '\t' || *text == '\n') ++text;
  for (const auto& [name, number] : kKnown) {
    int at = 0;
    while (name[at] != 0 && name[at] == text[at]) ++at;
    if (name[at] != 0) continue;
    int last = 0, ends = 0;
    for (; text[at] != 0; ++at) {
      if (text[at] == ';') ++ends;
      if (text[at - 1] == ' ' && text[at] >= '0' && text[at] <= '9') {
        for (last = 0; text[at] >= '0' && text[at] <= '9'; ++at) last = 10 * last + text[at] - '0';
        --at;
      }
    }
    return ends > 1 ? 0 : number | last << 8;
  }
  return 0;
}
template <int kPtx, typename... T>
__attribute__((always_inline)) inline void c63_ptx(T&&... operands) {
  static_assert(kPtx != 0, "this PTX instruction is not emulated");
  constexpr int kWhich = kPtx & 255, kNumber = kPtx >> 8;
  const auto run = [](auto&& a, auto b, auto c, auto d) __attribute__((always_inline)) {
    if constexpr (kWhich == kC63Vabsdiff4) a = __vsadu4(b, c) + d;
    if constexpr (kWhich == kC63Dp4a) a = __dp4a((unsigned)b, (unsigned)c, (unsigned)d);
  };
  const auto copy = [](unsigned to, auto from, auto... bytes) __attribute__((always_inline)) {
    __pipeline_memcpy_async(__start_c63_shared + to, (const void*)from, (unsigned long)(kNumber + ... + bytes));
  };
  if constexpr (kWhich == kC63Vabsdiff4 || kWhich == kC63Dp4a) run(operands...);
  if constexpr (kWhich == kC63Copy) copy(operands...);
  if constexpr (kWhich == kC63EndCopies) __pipeline_commit();
  if constexpr (kWhich == kC63WaitCopies) __pipeline_wait_prior(kNumber);
  if constexpr (kWhich == kC63WaitAll) __pipeline_commit(), __pipeline_wait_prior(0);
}

// ---- Launches ----

template <typename T>
struct C63As<T&> {
  using type = T&;
  using value = T;
};
/// Calls a kernel. The elements in braces are evaluated one after another.
struct C63Call {
  template <typename... T>
  __attribute__((no_sanitize("thread", "undefined"))) C63Call(void (*kernel)(T...), typename C63As<T>::type... arguments) {
    kernel(arguments...);
  }
};
template <typename... T>
C63_CALLED void c63_call(void (*kernel)(T...), void** arguments) {
  C63Call{kernel, *(typename C63As<T>::value*)*arguments++...};
}
#endif
