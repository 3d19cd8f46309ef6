/* The interface of a motion search that is a file of its own, for c63bench, c63enc and c63.race(). The header is plain C; CUDA and
 * NVRTC can compile it, too.
 *
 * A search takes planes of samples, cut into blocks of 8x8. For each block of the current plane it finds the block of the
 * reference plane with the least SAD, the sum of the 64 absolute differences.
 *
 * The candidates of the block at sample (x0, y0), in a plane of width w and height h:
 *   max(0, x0 - range) <= x < min(w - 8, x0 + range) and max(0, y0 - range) <= y < min(h - 8, y0 + range).
 * The vector is (x - x0, y - y0). Of several candidates with the least SAD, the first in raster order wins: least y, then least x.
 * A block without a candidate (in a plane that is 8 wide or 8 high) has the vector (0, 0) and its SAD.
 *
 * CPU, mine.c or mine.cpp: define c63_motion_search(); it searches one plane.
 *
 *   #include <c63/motion_kernel.h>
 *   C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) { ... }
 *
 * GPU, mine.cu: define the kernel c63_motion(); it searches up to 24 planes of different sizes in one launch.
 *
 *   #include <c63/motion_kernel.h>
 *   C63_MOTION_SHAPE({16, 16}, {1, 1}, {0, 0, 0});   // optional: threads, blocks per thread block, shared memory
 *   C63_MOTION_KERNEL void c63_motion(const __grid_constant__ c63_motion_batch batch) { ... }
 *
 * GPU with several launches: write #if defined(C63_MOTION_HOST), c63_motion_launch(), #else, the kernels, #endif. The system's C++
 * compiler compiles the part before #else, for the CPU; the part after #else is compiled for the GPU. A .so may define
 * c63_motion_launch(), too.
 */
#ifndef C63_MOTION_KERNEL_H
#define C63_MOTION_KERNEL_H

#if defined(__cplusplus)
#define C63_MOTION_C extern "C"
#else
#define C63_MOTION_C
#endif
#define C63_MOTION_EXPORT C63_MOTION_C __attribute__((visibility("default")))

/* The displacement of a block: its prediction lies x samples further right and y further down. */
typedef struct c63_motion_vector {
  signed char x;
  signed char y;
} c63_motion_vector;

/* One plane to search. Sides, pitches and the planes' addresses are multiples of 8. */
typedef struct c63_motion_job {
  const unsigned char* current;
  const unsigned char* reference;
  long long current_pitch;    /* bytes from row to row, at least the width */
  long long reference_pitch;  /* may differ from current_pitch */
  int width;
  int height;
  int range;                   /* of this plane, in samples, 1..127; by default 16 for luma and 8 for chroma */
  c63_motion_vector* vectors;  /* output, one per block in raster order: (height / 8) rows of (width / 8) */
  unsigned short* sads;        /* output, one per block in raster order */
} c63_motion_job;

#define C63_MOTION_MAX_JOBS 24

/* The planes of one launch. */
typedef struct c63_motion_batch {
  c63_motion_job jobs[C63_MOTION_MAX_JOBS];
  int count;
} c63_motion_batch;

/* How a kernel is launched. The grid is (columns / blocks[0], rows / blocks[1], count), rounded up, with the most columns and the
 * most rows of all planes of the batch. So the kernel must return at once in thread blocks that lie outside their plane. */
typedef struct c63_motion_shape {
  int threads[2];       /* of a thread block, in x and y */
  int blocks[2];        /* 8x8 blocks that a thread block searches, in x and y */
  int shared_bytes[3];  /* dynamic shared memory in bytes: [0] + [1] * range + [2] * range * range, with the batch's largest range */
} c63_motion_shape;

/* The functions and the stream that c63_motion_launch() may use. */
typedef struct c63_motion_gpu {
  void* stream; /* a CUstream, which is a cudaStream_t, too. Submit all work to it; it may be captured in a graph */
  /* Launches the kernel of this name in the file. Returns 0, or a CUDA error. */
  int (*launch)(const struct c63_motion_gpu* gpu, const char* kernel, const int grid[3], const int threads[3],
                int shared_bytes, void** arguments);
  /* Returns `bytes` of device memory, or null if memory is short. It is valid until a call asks for more. */
  void* (*scratch)(const struct c63_motion_gpu* gpu, unsigned long long bytes);
  void* state; /* the caller's; not for the search */
} c63_motion_gpu;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define C63_MOTION_KERNEL extern "C" __global__
/* C63_MOTION_SHAPE({threads}, {blocks}, {shared bytes}); without it a thread block has as many threads as the
 * kernel's __launch_bounds__ (all in x), searches one block and has no dynamic shared memory. */
#define C63_MOTION_SHAPE(...) extern "C" __device__ c63_motion_shape c63_motion_launch_shape = {__VA_ARGS__}
#else
C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job);
/* Returns 0, or an error. The batch lies in host memory, its planes in device memory. */
C63_MOTION_EXPORT int c63_motion_launch(const c63_motion_batch* batch, const c63_motion_gpu* gpu);
#endif

/* Helpers for searches that try only some candidates. A file may use them, or not. */

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define C63_MOTION_INLINE static __device__ __forceinline__
#define C63_MOTION_ABS abs
#else
#define C63_MOTION_INLINE static inline
#define C63_MOTION_ABS __builtin_abs
#endif

/* The search of one block. */
typedef struct c63_motion_block {
  const c63_motion_job* job;
  int x0, y0;                   /* position of the block */
  int left, top, right, bottom; /* the window; right and bottom are exclusive. Without a candidate it is the zero vector */
  int x, y;                     /* position of the best candidate that was tried */
  unsigned sad;
} c63_motion_block;

C63_MOTION_INLINE int c63_motion_clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

C63_MOTION_INLINE unsigned c63_motion_sad(const c63_motion_block* block, int x, int y) {
  const unsigned char* a = block->job->current + block->y0 * block->job->current_pitch + block->x0;
  const unsigned char* b = block->job->reference + y * block->job->reference_pitch + x;
  unsigned sad = 0;
  for (int i = 0; i < 8; ++i, a += block->job->current_pitch, b += block->job->reference_pitch) {
    for (int j = 0; j < 8; ++j) sad += (unsigned)C63_MOTION_ABS(a[j] - b[j]);
  }
  return sad;
}

C63_MOTION_INLINE int c63_motion_is_candidate(const c63_motion_block* block, int x, int y) {
  return x >= block->left && x < block->right && y >= block->top && y < block->bottom;
}

/* Returns a block with its window, before any candidate was tried. */
C63_MOTION_INLINE c63_motion_block c63_motion_window(const c63_motion_job* job, int column, int row) {
  const int x0 = 8 * column, y0 = 8 * row, right = job->width - 8, bottom = job->height - 8;
  const int left = x0 > job->range ? x0 - job->range : 0, top = y0 > job->range ? y0 - job->range : 0;
  c63_motion_block block = {job, x0, y0, left, top, x0 + job->range < right ? x0 + job->range : right,
                            y0 + job->range < bottom ? y0 + job->range : bottom, x0, y0, 0xFFFFFFFF};
  if (block.left >= block.right || block.top >= block.bottom) {
    block.left = x0, block.top = y0, block.right = x0 + 1, block.bottom = y0 + 1;
  }
  return block;
}

/* Begins at the zero vector, or if it is not allowed, at the nearest candidate. */
C63_MOTION_INLINE c63_motion_block c63_motion_begin(const c63_motion_job* job, int column, int row) {
  c63_motion_block block = c63_motion_window(job, column, row);
  block.x = c63_motion_clamp(block.x0, block.left, block.right - 1);
  block.y = c63_motion_clamp(block.y0, block.top, block.bottom - 1);
  block.sad = c63_motion_sad(&block, block.x, block.y);
  return block;
}

/* Writes the best candidate to the job's results. */
C63_MOTION_INLINE void c63_motion_store(const c63_motion_block* block) {
  const int number = block->y0 / 8 * (block->job->width / 8) + block->x0 / 8;
  block->job->vectors[number].x = (signed char)(block->x - block->x0);
  block->job->vectors[number].y = (signed char)(block->y - block->y0);
  block->job->sads[number] = (unsigned short)block->sad;
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
/* Returns `sum` and the absolute differences of four pairs of samples, by one instruction. */
C63_MOTION_INLINE unsigned c63_motion_absdiff4(unsigned a, unsigned b, unsigned sum) {
  unsigned result;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

/* Returns the smallest value of a warp. */
C63_MOTION_INLINE unsigned c63_motion_warp_min(unsigned value) {
  for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_xor_sync(0xFFFFFFFF, value, step));
  return value;
}

/* Each lane of the warp tries one candidate. Lanes that have none pass 0 as `has_one`. The thread block is this one warp.
 * Returns 1 if one of the candidates is better than the best one so far. */
C63_MOTION_INLINE int c63_motion_try_lanes(c63_motion_block* block, int x, int y, int has_one) {
  const unsigned none = 0xFFFFFFFF;
  const unsigned key = c63_motion_warp_min(
      has_one && c63_motion_is_candidate(block, x, y) ? c63_motion_sad(block, x, y) << 5 | threadIdx.x : none);
  if (key == none || key >> 5 >= block->sad) return 0;
  block->sad = key >> 5;
  block->x = __shfl_sync(none, x, key & 31);
  block->y = __shfl_sync(none, y, key & 31);
  return 1;
}

/* Defines a kernel in which a warp searches each block by find(&block), which begins at c63_motion_begin(). */
#define C63_MOTION_EACH_BLOCK(find)                                                                         \
  C63_MOTION_KERNEL void __launch_bounds__(32) c63_motion(const __grid_constant__ c63_motion_batch batch) { \
    const c63_motion_job& job = batch.jobs[blockIdx.z];                                                     \
    if (blockIdx.x >= job.width / 8 || blockIdx.y >= job.height / 8) return;                                \
    c63_motion_block block = c63_motion_begin(&job, blockIdx.x, blockIdx.y);                                \
    find(&block);                                                                                           \
    if (threadIdx.x == 0) c63_motion_store(&block);                                                         \
  }
#else
/* Tries a candidate. Returns 1 if it is better than all before it. */
C63_MOTION_INLINE int c63_motion_try(c63_motion_block* block, int x, int y) {
  if (!c63_motion_is_candidate(block, x, y)) return 0;
  const unsigned sad = c63_motion_sad(block, x, y);
  if (sad >= block->sad) return 0;
  block->sad = sad, block->x = x, block->y = y;
  return 1;
}

/* Defines a search of each block by find(&block), which begins at c63_motion_begin(). */
#define C63_MOTION_EACH_BLOCK(find)                                     \
  C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) { \
    for (int row = 0; row < job->height / 8; ++row) {                   \
      for (int column = 0; column < job->width / 8; ++column) {         \
        c63_motion_block block = c63_motion_begin(job, column, row);    \
        find(&block);                                                   \
        c63_motion_store(&block);                                       \
      }                                                                 \
    }                                                                   \
  }
#endif

#endif
