/* Stage "search" on a GPU. Four differences per instruction, with samples from shared memory. */
#include "c63.h"

#include <cuda_runtime.h>
#include <stdlib.h>

/* Ends the program if CUDA failed, and says where. */
static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "c63enc: search.cu:%d: %s\n", line, cudaGetErrorString(error));
  exit(8);
}
#define CHECK(call) check((call), __LINE__)

/* sum += |a - b| of four bytes at once. */
__device__ __forceinline__ unsigned add_differences(unsigned a, unsigned b, unsigned sum) {
#if __CUDA_ARCH__ >= 300
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
#endif
  return sum;
}

enum { WINDOW_ROWS = 2 * LUMA_RANGE + BLOCK - 1, WINDOW_WORDS = (2 * LUMA_RANGE + BLOCK) / 4 + 1 };

/* Loads the samples around the block, four to a word. Samples outside the plane are not used, so their values do not
 * matter. */
__device__ void load_window(unsigned window[WINDOW_ROWS][WINDOW_WORDS], const uint8_t *reference, int width, int height, int range,
                            int left, int top, int thread, int threads) {
  const int words = (2 * range + BLOCK) / 4, rows = 2 * range + BLOCK - 1;
  for (int i = thread; i < words * rows; i += threads) {
    const int x = left + i % words * 4, y = top + i / words;
    /* Planes are a multiple of 8 samples wide, so a word is inside or outside as a whole. */
    const bool inside = x >= 0 && y >= 0 && x < width && y < height;
    window[i / words][i % words] = inside ? *(const unsigned *)(reference + (size_t)y * width + x) : 0;
  }
}

/* The smallest key of a warp; all lanes get it. */
__device__ unsigned smallest(unsigned key) {
  for (int step = 16; step > 0; step /= 2) key = min(key, __shfl_xor_sync(~0u, key, step));
  return key;
}

__device__ void store(unsigned key, int range, struct block_motion *motion) {
  struct block_motion best = {0, 0, 1};
  if (key != ~0u) {
    best.x = (int8_t)((int)(key & 31) - range);
    best.y = (int8_t)((int)(key >> 5 & 31) - range);
  }
  *motion = best;
}

/* Each thread block searches one block of 8x8 samples, and each thread takes one position, as before. Samples come from
 * shared memory, four at a time. */
__global__ void search_kernel(const uint8_t *source, const uint8_t *reference, int width, int height, int range,
                              struct block_motion *motion) {
  __shared__ unsigned window[WINDOW_ROWS][WINDOW_WORDS];
  __shared__ unsigned keys[32];
  const int x0 = blockIdx.x * BLOCK, y0 = blockIdx.y * BLOCK;
  const int number = threadIdx.y * blockDim.x + threadIdx.x;
  load_window(window, reference, width, height, range, x0 - range, y0 - range, number, blockDim.x * blockDim.y);
  __syncthreads();

  const int x = x0 - range + (int)threadIdx.x, y = y0 - range + (int)threadIdx.y;
  unsigned key = ~0u;
  if (x >= 0 && y >= 0 && x < width - BLOCK && y < height - BLOCK) {
    const int word = threadIdx.x / 4, shift = threadIdx.x % 4 * 8;
    unsigned sad = 0;
    for (int row = 0; row < BLOCK; ++row) {
      const unsigned *current = (const unsigned *)(source + (size_t)(y0 + row) * width + x0);
      const unsigned *words = &window[threadIdx.y + row][word];
      sad = add_differences(current[0], __funnelshift_r(words[0], words[1], shift), sad);
      sad = add_differences(current[1], __funnelshift_r(words[1], words[2], shift), sad);
    }
    key = sad << 10 | threadIdx.y << 5 | threadIdx.x;
  }
  key = smallest(key);
  if (number % 32 == 0) keys[number / 32] = key;
  __syncthreads();
  if (number >= 32) return;
  key = smallest(number < (int)(blockDim.x * blockDim.y / 32) ? keys[number] : ~0u);
  if (number == 0) store(key, range, &motion[blockIdx.y * gridDim.x + blockIdx.x]);
}

/* Memory on the device. It is allocated once, and again only for a larger plane. */
static uint8_t *device_source, *device_reference;
static struct block_motion *device_motion;
static size_t capacity;

static void reserve(size_t samples) {
  if (samples <= capacity) return;
  cudaFree(device_source);
  cudaFree(device_reference);
  cudaFree(device_motion);
  CHECK(cudaMalloc(&device_source, samples));
  CHECK(cudaMalloc(&device_reference, samples));
  CHECK(cudaMalloc(&device_motion, samples / BLOCK_SAMPLES * sizeof(struct block_motion)));
  capacity = samples;
}

void search_plane(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range,
                  struct block_motion *motion) {
  const size_t samples = (size_t)size->width * size->height;
  reserve(samples);
  CHECK(cudaMemcpy(device_source, source, samples, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_reference, reference, samples, cudaMemcpyHostToDevice));
  const dim3 blocks(size->blocks_x, size->blocks_y);
  search_kernel<<<blocks, dim3(2 * range, 2 * range)>>>(device_source, device_reference, size->width, size->height, range,
                                                       device_motion);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(motion, device_motion, block_count(size) * sizeof(struct block_motion), cudaMemcpyDeviceToHost));
}
