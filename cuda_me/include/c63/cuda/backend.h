#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "c63/joining_device.h"

namespace c63::cuda {

/// What travels to the device for each frame.
enum class UploadMode {
  frame,  ///< the new frame; its reference stays on the device
  pair,   ///< the new frame and its reference, as course solutions do: for comparison
};

struct CudaBackendOptions {
  std::vector<int> devices = {};            ///< GPUs by CUDA's index; empty: the first that can be used
  std::vector<int> numbers = {};            ///< what descriptions call each of them, for programs that hide other GPUs
                                            ///< from CUDA; empty: their index
  std::string motion_kernel = "automatic";  ///< one of motion_kernel_names()
  UploadMode upload = UploadMode::frame;
  bool graphs = true;  ///< where a GPU has one GOP at a time, its frames are recorded as graphs once and launched whole
  std::size_t coded_capacity = 0;  ///< bytes of a scan that the device writes to the host by itself; larger ones are
                                   ///< fetched by a slower way; 0: chosen
};

/// Names of the motion kernels, slowest first.
[[nodiscard]] std::vector<std::string> motion_kernel_names();

/// A factory for each of the options' GPUs, in their order; a GPU that is named twice is two devices. They encode whole
/// frames, to the same bytes as the CPU.
///
/// A device has the chains (GOPs at the same time) that it is asked for, or as many as fill it where
/// EncoderSettings::execution.lanes is 0. What they take of it is device_bytes_per_chain() each; where that does not fit,
/// they are halved until it does.
///
/// The factories throw Error: (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED for GPUs that
/// cannot be used, C63-CUDA-MEMORY where not one chain fits, C63-CUDA-METHOD for search methods that the device does not
/// have; (usage) C63-CUDA-KERNEL for an unknown kernel. A device that fails later makes submit() or collect() throw Error
/// (device) with the frame.
[[nodiscard]] std::vector<BackendFactory> make_backend_factories(const CudaBackendOptions& options = {});

/// The first of these GPUs, to join encodes that other devices have begun (c63/joining_device.h). The driver is started with the
/// first encode that is worth it, not by this call.
[[nodiscard]] std::shared_ptr<JoiningDevice> make_joining_device(const CudaBackendOptions& options = {});

/// Device memory that a chain takes, in bytes: with P the bytes of a picture (W and H rounded up to 16, 3/2 of their
/// product), B the number of blocks (P / 64) and S the number of segments (MCUs / 8, rounded up), and F the bytes of a
/// frame of input,
///   8·P (six inputs, two pictures) + 8·B (masks, vectors, SADs, weights) + 3·S·(10176 + 16) + 3/2·F + 192 KiB (codes of three
///   frames) + 18 KiB (quantizers)
/// and one more P with keep_prediction, six with a filter over time; every array rounded up to 256 bytes. A chain whose
/// frames are recorded as graphs takes 4 MiB more. Preset best takes 19·(F + P + 40/3·B) + 6·F + 32·B more for frames that
/// it looks at. Decisions by rate take up to 2 GiB besides, for all chains of a device: about 7 (preset fast) or 27 (presets
/// good and best) times P for each of as many frames as fit.
[[nodiscard]] std::size_t device_bytes_per_chain(const EncoderSettings& settings,
                                                 const CudaBackendOptions& options = {});

/// Page-locked memory of the host that a device with C chains takes, in bytes: min(48 MiB / F, 6·C) frames of input, at
/// least two, through which all of them are read, weights and quantizers, and the coded bytes of three frames a chain,
///   min(48 MiB / F, 6·C)·F + C·(B + 18 KiB) + 3·C·(F / 2 + 64 KiB)
/// and a frame of F and B / 6 a chain with preset best, and three more frames of F a chain each with keep_reconstruction or ssim, keep_prediction, and ssim.
[[nodiscard]] std::size_t host_bytes_per_device(const EncoderSettings& settings, int chains,
                                                const CudaBackendOptions& options = {});

}  // namespace c63::cuda
