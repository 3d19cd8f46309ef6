#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c63/encoder.h"

namespace c63::cuda {

/// Who writes the codes of a frame.
enum class EntropyCoder {
  gpu,  ///< the device, beside the other lanes' work; only coded bytes come back
  cpu,  ///< the host, from downloaded levels: for comparison
};

/// What travels to the device for each frame.
enum class UploadMode {
  frame,  ///< the new frame; its reference stays on the device
  pair,   ///< the new frame and its reference, as course solutions do: for comparison
};

/// How work gets to the device.
enum class LaunchMode {
  automatic,  ///< graph where a device has one lane, else stream: what is faster on an H200 (docs/gpu.md)
  stream,     ///< the frames of all lanes together, kernel by kernel
  graph,      ///< every lane by itself, the kernels of a frame recorded once; with what is kept besides bytes, as stream
};

struct CudaBackendOptions {
  std::vector<int> devices = {};            ///< GPUs by CUDA's index; empty: the first that can be used
  std::vector<int> numbers = {};            ///< what descriptions call them, for programs that hide others from CUDA;
                                            ///< empty: their index
  std::string motion_kernel = "automatic";  ///< one of motion_kernel_names()
  EntropyCoder entropy = EntropyCoder::gpu;
  UploadMode upload = UploadMode::frame;
  LaunchMode launch = LaunchMode::automatic;
  int lanes_per_batch = 0;         ///< lanes that share launches and a stream; 0: chosen, 1: a stream for every lane
  std::size_t coded_capacity = 0;  ///< bytes of a scan that the device writes to the host by itself; larger ones are
                                   ///< fetched by a slower way; 0: chosen
};

/// Names of the motion kernels, slowest first.
[[nodiscard]] std::vector<std::string> motion_kernel_names();

/// Factories of devices that encode whole frames on GPUs, one for each of options.devices; the same bytes as on the CPU.
///
/// ExecutionSettings::lanes is the number of lanes of a device; 0 chooses one by picture size. What it then takes of
/// the device is device_bytes_per_lane() a lane; where that does not fit, lanes are halved until it does.
///
/// A factory throws Error: (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED for GPUs that
/// cannot be used, C63-CUDA-MEMORY where not one lane fits, C63-CUDA-METHOD for search methods that the device does not
/// have; (usage) C63-CUDA-KERNEL for an unknown kernel. A device that fails later makes submit() or collect() throw
/// Error (device) with the frame.
[[nodiscard]] std::vector<BackendFactory> make_backend_factories(const CudaBackendOptions& options = {});

/// Device memory that a lane takes, in bytes: with P the bytes of a picture (W and H rounded up to 16, 3/2 of their
/// product), B the number of blocks (P / 64) and S the number of segments (MCUs / 8, rounded up), and F the bytes of a
/// frame of input,
///   8·P (six inputs, two pictures) + 4·B (vectors, SADs) + 3·S·(10176 + 16) + 3/2·F + 192 KiB (codes of three frames)
/// and one more P with keep_prediction, 128·B with the CPU's entropy coder; every array rounded up to 256 bytes. A lane
/// whose frames are recorded as graphs (LaunchMode) takes 4 MiB more.
[[nodiscard]] std::size_t device_bytes_per_lane(const EncoderSettings& settings,
                                                const CudaBackendOptions& options = {});

/// Page-locked memory of the host that a device with L lanes takes, in bytes: min(48 MiB / F, 6·L) frames of input, at
/// least two, through which all lanes read, and the coded bytes of three frames a lane,
///   min(48 MiB / F, 6·L)·F + 3·L·(F / 2 + 64 KiB)
/// and three more frames of F a lane each with keep_reconstruction or measure_ssim, keep_prediction, and measure_ssim.
/// Lanes that share no launches (LaunchMode::graph) each take what a device with one lane takes.
[[nodiscard]] std::size_t host_bytes_per_device(const EncoderSettings& settings, int lanes,
                                                const CudaBackendOptions& options = {});

}  // namespace c63::cuda
