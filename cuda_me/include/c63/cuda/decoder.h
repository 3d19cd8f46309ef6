#pragma once

#include <memory>

#include "c63/decoder.h"
#include "c63/joining_device.h"

namespace c63::cuda {

struct CudaDecoderOptions {
  int device = 0;   ///< by CUDA's index
  int number = -1;  ///< what its description calls it, for programs that hide other GPUs from CUDA; -1: its index
};

/// Opens a GPU to decode with, for DecoderSettings::device. Views of frames show page-locked memory, so that they can be copied
/// to a device as they lie.
///
/// Memory is taken when the first picture comes, and kept. A frame in work takes 2.03 times its samples on the device and its
/// coded bytes; as many are in work as fit `Limits::max_memory` and the device, 768 at most. Another 35 pictures are on the
/// device and 32 frames in page-locked memory. Coded bytes pass through page-locked memory, too.
///
/// Throws Error (device) with ids C63-CUDA-NO-DRIVER, -NO-DEVICE, -NO-CODE, -DEVICE-FAILED for GPUs that cannot be used. Decoding
/// throws C63-CUDA-MEMORY where not one frame fits, and Error (device) where the device fails.
[[nodiscard]] std::shared_ptr<DecodeBackend> open_decoder(const CudaDecoderOptions& options = {});

/// The same for DecoderSettings::joining. The driver is started with the first decode that is worth it, not by this call.
[[nodiscard]] std::shared_ptr<JoiningDecoder> make_joining_decoder(const CudaDecoderOptions& options = {});

}  // namespace c63::cuda
