#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/stream.h"
#include "race/race_judge.h"

namespace c63::bench {

/// Runs a search of the current device on the test cases, in batches of several sizes, and judges its results. Stops early
/// if the judge has found enough mistakes. Before each step, calls `tell` with the step's name. A CUDA error ends the judging
/// and is part of the verdict. Then `device_lost` is set, because this process can no longer use the device.
void judge_on_device(race::Judge& judge, cuda::MotionSearch& search, const cuda::Stream& stream, std::uint32_t seed,
                     int range, const std::function<void(const std::string&)>& tell, bool& device_lost);

}  // namespace c63::bench
