#pragma once

#include <memory>

#include "c63/film_device.h"

namespace c63::cuda {

/// Opens a GPU on which FFmpeg decodes films. `device` is CUDA's index. Throws Error (device) if it cannot be used.
[[nodiscard]] std::shared_ptr<FilmDevice> open_film_device(int device);

}  // namespace c63::cuda
