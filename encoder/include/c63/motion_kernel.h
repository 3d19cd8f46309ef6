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

#endif
