#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/joining_device.h"

namespace c63::cuda {

/// What is uploaded for each frame.
enum class UploadMode {
  frame,  ///< the new frame; its reference stays on the device
  pair,   ///< the new frame and its reference, as course solutions do; for comparison
};

/// Which GPUs encode, and how.
struct CudaBackendOptions {
  std::vector<int> devices = {};            ///< GPUs by CUDA's index; empty: the first usable one
  std::vector<int> numbers = {};            ///< their numbers in descriptions, for programs that hide other GPUs from CUDA;
                                            ///< empty: CUDA's index
  std::string motion_kernel = "automatic";  ///< one of motion_kernel_names()
  UploadMode upload = UploadMode::frame;
  bool graphs = true;  ///< a GPU with one GOP at a time records frames as CUDA graphs and launches each as a whole
  std::size_t coded_capacity = 0;  ///< bytes of a scan that the device writes directly to the host; larger scans are
                                   ///< fetched in a slower way; 0: automatic
};

/// Names of the motion kernels, slowest first.
[[nodiscard]] std::vector<std::string> motion_kernel_names();

/// Makes one factory for each GPU of the options, in their order. A GPU that is named twice counts as two devices. They encode
/// whole frames to the same bytes as the CPU.
///
/// If EncoderSettings::execution.lanes is 0, a device has as many chains (GOPs at the same time) as fill it. Otherwise it has the
/// requested number. Each takes device_bytes_per_chain(). If that does not fit, the number is halved until it does.
///
/// The factories throw Error: (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED if a GPU cannot be
/// used, C63-CUDA-MEMORY if not even one chain fits, C63-CUDA-METHOD if the device lacks the search method; (usage)
/// C63-CUDA-KERNEL for an unknown kernel. If a device fails later, submit() or collect() throws Error (device) with the frame.
[[nodiscard]] std::vector<BackendFactory> make_backend_factories(const CudaBackendOptions& options = {});

/// Makes the first GPU of the options join encodes that other devices have begun (c63/joining_device.h). Its driver starts with
/// the first encode that is worth it, not with this call.
[[nodiscard]] std::shared_ptr<JoiningDevice> make_joining_device(const CudaBackendOptions& options = {});

/// The device memory of a chain in bytes. Let P be the bytes of a picture (3/2 of the product of W and H, rounded up to 16), B
/// the number of blocks (P / 64), S the number of segments (MCUs / 8, rounded up), and F the bytes of an input frame. A chain
/// takes
///   8·P (six inputs, two pictures) + 8·B (masks, vectors, SADs, weights) + 3·S·(10176 + 16) + 3/2·F + 192 KiB (codes of three
///   frames) + 18 KiB (quantizers)
/// and P more with keep_prediction, 6·P more with a temporal filter. Every array is rounded up to 256 bytes. Frames that are
/// recorded as graphs take 4 MiB more. Preset best takes 19·(F + P + 40/3·B) + 6·F + 32·B more for its look-ahead. In addition,
/// decisions by rate take up to 2 GiB for all chains of a device: about 7·P (preset fast) or 27·P (presets good and best) per
/// frame, for as many frames as fit.
[[nodiscard]] std::size_t device_bytes_per_chain(const EncoderSettings& settings,
                                                 const CudaBackendOptions& options = {});

/// The page-locked host memory of a device with C chains, in bytes: min(48 MiB / F, 6·C), but at least two, input frames through
/// which all frames are read, weights and quantizers, and the coded bytes of three frames per chain,
///   min(48 MiB / F, 6·C)·F + C·(B + 18 KiB) + 3·C·(F / 2 + 64 KiB)
/// With preset best, each chain takes F + B / 6 more. Each of keep_reconstruction or ssim, keep_prediction, and ssim takes 3·F
/// more per chain.
[[nodiscard]] std::size_t host_bytes_per_device(const EncoderSettings& settings, int chains,
                                                const CudaBackendOptions& options = {});

}  // namespace c63::cuda
