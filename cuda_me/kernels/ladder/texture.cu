// Like packed.cu, but the window is not copied to shared memory. Words are read through a texture, whose cache holds
// the window.

#include <map>
#include <utility>

#include "cuda_me/kernels/motion_search.h"
#include "cuda_me/kernels/ladder/window.cuh"

namespace c63::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uintptr_t kTextureAlignment = 512;

struct TextureBatch {
  MotionBatch batch;
  std::array<cudaTextureObject_t, kBatchJobs> textures;
  std::array<int, kBatchJobs> offsets;  ///< where the plane begins in the texture, in bytes
};

/// Reads the four bytes at any byte offset of the texture.
__device__ __forceinline__ std::uint32_t fetch(cudaTextureObject_t texture, int byte) {
  const std::uint32_t low = tex1Dfetch<unsigned>(texture, byte >> 2);
  const unsigned shift = static_cast<unsigned>(byte & 3) * 8;
  if (shift == 0) return low;
  return __funnelshift_r(low, tex1Dfetch<unsigned>(texture, (byte >> 2) + 1), shift);
}

__global__ void __launch_bounds__(kThreads) motion_texture(const __grid_constant__ TextureBatch all) {
  __shared__ std::uint32_t current[kBlockSamples / 4];
  __shared__ std::uint32_t keys[kThreads];

  const MotionJob& job = all.batch.jobs[blockIdx.z];
  const cudaTextureObject_t texture = all.textures[blockIdx.z];
  const int column = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (column >= job.width / kBlockSize || row >= job.height / kBlockSize) return;

  const SearchWindow window = search_window(column, row, job.width, job.height, job.range);
  const int width = window.right - window.left;
  const int candidates = window.empty() ? 0 : width * (window.bottom - window.top);
  load_current(current, job, column, row);
  __syncthreads();

  const int pitch = static_cast<int>(job.reference_pitch);
  std::uint32_t best = kNoCandidate;
  for (int index = static_cast<int>(threadIdx.x); index < candidates; index += kThreads) {
    int byte = all.offsets[blockIdx.z] + (window.top + index / width) * pitch + window.left + index % width;
    std::uint32_t sad = 0;
#pragma unroll
    for (int i = 0; i < kBlockSize; ++i) {
      sad = absdiff4_add(fetch(texture, byte), current[2 * i], sad);
      sad = absdiff4_add(fetch(texture, byte + 4), current[2 * i + 1], sad);
      byte += pitch;
    }
    best = min(best, candidate_key(sad, static_cast<std::uint32_t>(index)));
  }
  best = block_min_tree<kThreads>(keys, best);
  if (threadIdx.x == 0) store_best(job, column, row, window, best);
}

/// Keeps one texture for each plane, because textures must outlive the launches that read them.
class TextureSearch final : public MotionSearch {
 public:
  TextureSearch() = default;
  TextureSearch(const TextureSearch&) = delete;
  TextureSearch& operator=(const TextureSearch&) = delete;
  ~TextureSearch() override {
    for (const auto& [plane, texture] : textures_) {
      drop_error(cudaDestroyTextureObject(texture));
    }
  }

  [[nodiscard]] MotionKernelResources resources() const override {
    return kernel_resources(reinterpret_cast<const void*>(motion_texture), kThreads, 0);
  }

 protected:
  void launch_jobs(std::span<const MotionJob> jobs, cudaStream_t stream) override {
    TextureBatch all{};
    int columns = 0;
    int rows = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const MotionJob& job = jobs[i];
      const auto address = reinterpret_cast<std::uintptr_t>(job.reference);
      const std::uintptr_t base = address / kTextureAlignment * kTextureAlignment;
      const std::size_t bytes = address - base + static_cast<std::size_t>(job.reference_pitch) * (job.height - 1) +
                                static_cast<std::size_t>(job.width);
      all.batch.jobs[i] = job;
      all.textures[i] = texture(base, (bytes + 3) / 4 * 4);
      all.offsets[i] = static_cast<int>(address - base);
      columns = std::max(columns, job.width / kBlockSize);
      rows = std::max(rows, job.height / kBlockSize);
    }
    const LaunchShape shape{dim3(static_cast<unsigned>(columns), static_cast<unsigned>(rows),
                                 static_cast<unsigned>(jobs.size())),
                            dim3(kThreads)};
    launch("motion_texture", motion_texture, shape, stream, all);
  }

 private:
  cudaTextureObject_t texture(std::uintptr_t base, std::size_t bytes) {
    cudaTextureObject_t& object = textures_[{base, bytes}];
    if (object == 0) {
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear.devPtr = reinterpret_cast<void*>(base);
      resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
      resource.res.linear.sizeInBytes = bytes;
      cudaTextureDesc description{};
      description.readMode = cudaReadModeElementType;
      // Creating a texture adds no work to a stream. In relaxed mode it is allowed while a graph is captured.
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
      check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
      const cudaError_t created = cudaCreateTextureObject(&object, &resource, &description, nullptr);
      check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
      check(created, "cudaCreateTextureObject");
    }
    return object;
  }

  std::map<std::pair<std::uintptr_t, std::size_t>, cudaTextureObject_t> textures_;
};

}  // namespace

std::unique_ptr<MotionSearch> make_texture_search() { return std::make_unique<TextureSearch>(); }

}  // namespace c63::cuda
