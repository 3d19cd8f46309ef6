#pragma once

#include <memory>

#include "c63/decoder.h"

namespace c63::cuda {

/// Says which GPU decodes.
struct CudaDecoderOptions {
  int device = 0;   ///< CUDA's index
  /// The number by which the description calls the GPU. -1: CUDA's index. A program that hides some GPUs from CUDA sets
  /// it, because CUDA then numbers only the others.
  int number = -1;
};

/// Opens a GPU for DecoderSettings::device. The views of decoded frames point to page-locked memory, so they can be
/// copied to a device directly.
///
/// The decoder allocates memory at the first picture and keeps it. Each frame that is being decoded takes 2.03 bytes
/// per sample on the device, plus its coded bytes. At most 768 frames are decoded at the same time. There are fewer if
/// `Limits::max_memory` or the device's memory is too small. In addition, the decoder has up to 35 pictures on the
/// device and 32 frames in page-locked memory. Coded bytes also pass through page-locked memory.
///
/// Throws Error (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED if the GPU cannot be used.
/// If not even one frame fits, decoding throws Error: limit (C63-MAX-MEMORY) because of `Limits::max_memory`, device
/// (C63-CUDA-MEMORY) because of the GPU's memory. It throws Error (device) if the device fails.
[[nodiscard]] std::shared_ptr<DecodeBackend> open_decoder(const CudaDecoderOptions& options = {});

}  // namespace c63::cuda
