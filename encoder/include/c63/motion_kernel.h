/* The form of a motion search that c63bench, c63enc and c63.race() take as a file. Plain C, also for CUDA and NVRTC.
 *
 * A search takes planes of samples, cut into blocks of 8x8. For each block of the current plane it finds the block of the
 * reference plane that differs least. The measure is the SAD, the sum of the 64 absolute differences.
 *
 * The candidates of the block at sample (x0, y0), in a plane of width w and height h:
 *   x from max(0, x0 - range) to min(w - 8, x0 + range), the end excluded; y from max(0, y0 - range) to min(h - 8, y0 + range),
 *   the end excluded.
 * The vector is (x - x0, y - y0). Of candidates with the least SAD, the first in raster order counts: least y, then least x.
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
 *   C63_MOTION_SHAPE({16, 16}, {1, 1}, {0, 0, 0});   // optional: threads, blocks a thread block searches, shared memory
 *   C63_MOTION_KERNEL void c63_motion(const __grid_constant__ c63_motion_batch batch) { ... }
 *
 * GPU with several launches: between #if defined(C63_MOTION_HOST) and #else define c63_motion_launch(),
 * after #else the kernels.
 * The first part is compiled by the system's C++ compiler, the second for the GPU. A .so may define c63_motion_launch(), too.
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
  long long reference_pitch;  /* another number, perhaps */
  int width;
  int height;
  int range;                   /* of this plane, 1..127: 16 for luma and 8 for chroma, unless another one is asked for */
  c63_motion_vector* vectors;  /* one per block in raster order: (height / 8) rows of (width / 8) */
  unsigned short* sads;        /* one per block in raster order */
} c63_motion_job;

#define C63_MOTION_MAX_JOBS 24

/* The planes of one launch. */
typedef struct c63_motion_batch {
  c63_motion_job jobs[C63_MOTION_MAX_JOBS];
  int count;
} c63_motion_batch;

/* How a kernel is launched. The grid is (columns / blocks[0], rows / blocks[1], count), rounded up, for the largest plane of
 * the batch in each direction: thread blocks outside a smaller plane return at once. */
typedef struct c63_motion_shape {
  int threads[2];       /* of a thread block */
  int blocks[2];        /* 8x8 blocks that a thread block searches */
  int shared_bytes[3];  /* dynamic shared memory: [0] + [1] * range + [2] * range * range, for the largest range of the batch */
} c63_motion_shape;

/* What c63_motion_launch() works with. */
typedef struct c63_motion_gpu {
  void* stream; /* a CUstream, which is a cudaStream_t, too. All work goes there; it may be captured in a graph */
  /* Launches a kernel of the file by its name. Returns 0, or a CUDA error. */
  int (*launch)(const struct c63_motion_gpu* gpu, const char* kernel, const int grid[3], const int threads[3],
                int shared_bytes, void** arguments);
  /* Device memory of the search, which stays until the next call that asks for more; null if there is none. */
  void* (*scratch)(const struct c63_motion_gpu* gpu, unsigned long long bytes);
  void* state; /* of the caller */
} c63_motion_gpu;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define C63_MOTION_KERNEL extern "C" __global__
/* C63_MOTION_SHAPE({threads}, {blocks}, {shared bytes}); without it a thread block has the threads of the kernel's
 * __launch_bounds__ in a row, searches one block and has no dynamic shared memory. */
#define C63_MOTION_SHAPE(...) extern "C" __device__ c63_motion_shape c63_motion_launch_shape = {__VA_ARGS__}
#else
C63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job);
/* Returns 0, or an error. The batch is the host's; its planes are the device's. */
C63_MOTION_EXPORT int c63_motion_launch(const c63_motion_batch* batch, const c63_motion_gpu* gpu);
#endif

#endif
