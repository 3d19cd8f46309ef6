#pragma once

#include <memory>

#include "c63/decoder.h"
#include "c63/joining_device.h"

namespace c63::cuda {

/// Which GPU decodes.
struct CudaDecoderOptions {
  int device = 0;   ///< CUDA's index
  int number = -1;  ///< its number in the description, for programs that hide other GPUs from CUDA; -1: CUDA's index
};

/// Opens a GPU for DecoderSettings::device. Views of frames show page-locked memory, so that they can be copied to a device
/// directly.
///
/// The decoder takes memory at the first picture and keeps it. Each frame in work takes 2.03 times its samples on the device,
/// and its coded bytes. At most 768 frames are in work, fewer if `Limits::max_memory` or the device holds fewer. In addition,
/// 35 pictures are on the device and 32 frames in page-locked memory. Coded bytes also pass through page-locked memory.
///
/// Throws Error (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED if the GPU cannot be used. Decoding
/// throws C63-CUDA-MEMORY if not even one frame fits, and Error (device) if the device fails.
[[nodiscard]] std::shared_ptr<DecodeBackend> open_decoder(const CudaDecoderOptions& options = {});

/// Makes a GPU for DecoderSettings::joining. Its driver starts with the first decode that is worth it, not with this call.
[[nodiscard]] std::shared_ptr<JoiningDecoder> make_joining_decoder(const CudaDecoderOptions& options = {});

}  // namespace c63::cuda
