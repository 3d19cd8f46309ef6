#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cuda_me/kernels/motion.h"
#include "cuda_me/runtime/stream.h"
#include "race/race_judge.h"

namespace c63::bench {

/// Has a search of the current device find the motion of all cases, in batches of several sizes, and judges what it
/// finds. `tell` is called with the name of what comes next. A CUDA error ends the judging, and is part of the verdict:
/// the process cannot use the device after that. `device_lost` becomes true then.
void judge_on_device(race::Judge& judge, cuda::MotionSearch& search, const cuda::Stream& stream, std::uint32_t seed,
                     int range, const std::function<void(const std::string&)>& tell, bool& device_lost);

}  // namespace c63::bench
