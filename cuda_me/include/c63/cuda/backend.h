#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "c63/encoder.h"

namespace c63::cuda {

/// Which pictures are uploaded for each frame.
enum class UploadMode {
  frame,  ///< the new frame; its reference stays on the device
  pair,   ///< the new frame and its reference, as course solutions do; only to compare speeds
};

/// Says which GPUs encode, and how.
struct CudaBackendOptions {
  std::vector<int> devices = {};            ///< GPUs by CUDA's index; empty: the first usable one
  /// The numbers by which descriptions call the GPUs of `devices`. Empty: CUDA's indices. A program that hides some
  /// GPUs from CUDA sets them, because CUDA then numbers only the others.
  std::vector<int> numbers = {};
  std::string motion_kernel = "automatic";  ///< one of motion_kernel_names()
  UploadMode upload = UploadMode::frame;
  /// If true, and if the GPU codes only one GOP at a time, frames are recorded as CUDA graphs, and each is launched as
  /// a whole.
  bool graphs = true;
  /// The largest scan, in bytes, that the device writes directly to the host. Larger scans are fetched in a slower way.
  /// 0: the library chooses it.
  std::size_t coded_capacity = 0;
};

/// Returns the names of the motion kernels, simplest first.
[[nodiscard]] std::vector<std::string> motion_kernel_names();

/// Makes one factory for each GPU of the options, in their order. A GPU that is named twice counts as two devices. A
/// frame is encoded wholly on one GPU, to the same bytes as on the CPU.
///
/// If EncoderSettings::execution.lanes is 0, a device gets enough chains (GOPs at the same time) to fill it. Otherwise
/// it gets the requested number. It gets no more chains than the video can have GOPs. Each chain takes
/// device_bytes_per_chain(). If the chains do not fit in memory, their number is halved until they do.
///
/// The factories throw Error: (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED if a GPU
/// cannot be used, C63-CUDA-MEMORY if not even one chain fits, C63-CUDA-METHOD if the search method runs only on the
/// CPU; (usage) C63-CUDA-KERNEL for an unknown kernel. If a device fails later, submit() or collect() throws Error
/// (device), which names the frame.
[[nodiscard]] std::vector<BackendFactory> make_backend_factories(const CudaBackendOptions& options = {});

/// Returns the device memory of a GOP chain in bytes. (A chain encodes one GOP after another. The chains of a device
/// work at the same time.) Let W and H be the sides of a frame, each rounded up to 16, and P = 3/2·W·H the bytes of a
/// picture. Let B be the number of blocks (P / 64), S the number of segments (MCUs / 8, rounded up), and F the bytes of
/// an input frame. The result is the sum of these terms, with every array rounded up to 256 bytes:
///   8·P                                    six inputs, two pictures
///   8·B                                    masks, vectors, SADs, weights
///   3·S·(10176 + 16) + 3/2·F + 192 KiB     codes of three frames (with coded_capacity 0)
///   18 KiB                                 quantizers
///   P                                      only with keep_prediction
///   6·P                                    only with a temporal filter
///   19·(F + P + 40/3·B) + 6·F + 32·B       only with the look-ahead of preset best
///   4 MiB                                  only with graphs (lanes is 1, only coded bytes are downloaded)
/// Memory that the chains of a device share is not part of the result. Decisions by rate take most of it: about 7·P
/// (preset fast) or 26·P (presets good and best) per frame that is coded at the same time, normally at most 2 GiB.
[[nodiscard]] std::size_t device_bytes_per_chain(const EncoderSettings& settings,
                                                 const CudaBackendOptions& options = {});

/// Returns the page-locked host memory of a device with C chains, in bytes. With P, B and F as above:
///   N·F + C·(B + 18 KiB) + 3·C·(F / 2 + 64 KiB)
/// N is the number of page-locked frames into which input is read. It is the smaller of 48 MiB / F and 6·C, but at
/// least two. The second term is weights and quantizers. The third is the coded bytes of three frames per chain, if
/// coded_capacity is 0. With preset best, each chain takes F + B / 6 more. Each kind of downloaded picture takes 3·F
/// more per chain: the reconstruction (with keep_reconstruction or ssim), the prediction (with keep_prediction), and
/// the original (with ssim). keep_motion takes 15·B more per chain, and UploadMode::pair takes P more.
[[nodiscard]] std::size_t host_bytes_per_device(const EncoderSettings& settings, int chains,
                                                const CudaBackendOptions& options = {});

}  // namespace c63::cuda
