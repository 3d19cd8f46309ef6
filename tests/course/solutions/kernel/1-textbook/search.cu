/* Stage "search" on a GPU. One thread per position, byte by byte. */
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

/* Each thread block searches one block of 8x8 samples; each thread takes one position. SAD and raster number form one
 * key, so the smallest key has the smallest SAD, and of equal SADs the first. */
__global__ void search_kernel(const uint8_t *source, const uint8_t *reference, int width, int height, int range,
                              struct block_motion *motion) {
  __shared__ unsigned keys[4 * LUMA_RANGE * LUMA_RANGE];
  const int x0 = blockIdx.x * BLOCK, y0 = blockIdx.y * BLOCK;
  const int x = x0 - range + (int)threadIdx.x, y = y0 - range + (int)threadIdx.y;
  const unsigned number = threadIdx.y * blockDim.x + threadIdx.x;
  unsigned key = ~0u;
  if (x >= 0 && y >= 0 && x < width - BLOCK && y < height - BLOCK) {
    int sad = 0;
    for (int row = 0; row < BLOCK; ++row) {
      for (int column = 0; column < BLOCK; ++column) {
        sad += abs(source[(size_t)(y0 + row) * width + x0 + column] - reference[(size_t)(y + row) * width + x + column]);
      }
    }
    key = (unsigned)sad << 10 | number;
  }
  keys[number] = key;
  for (unsigned half = blockDim.x * blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (number < half) keys[number] = min(keys[number], keys[number + half]);
  }
  if (number != 0) return;
  struct block_motion best = {0, 0, 1};
  if (keys[0] != ~0u) {
    const int place = keys[0] & 1023;
    best.x = (int8_t)(place % (int)blockDim.x - range);
    best.y = (int8_t)(place / (int)blockDim.x - range);
  }
  motion[blockIdx.y * gridDim.x + blockIdx.x] = best;
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
