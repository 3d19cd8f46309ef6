#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "c63/motion_search.h"
#include "cuda_me/runtime/check.h"
#include "cuda_me/runtime/memory.h"

namespace c63::cuda {

/// Copies the planes of pairs in host memory to `planes`, with a pitch of `pitch` bytes. A plane that several pairs share is
/// copied once. Returns the pairs on the device. Planes that are in a GPU's memory already are not copied.
[[nodiscard]] inline std::vector<MotionPair> upload_pairs(std::span<const MotionPair> pairs, std::ptrdiff_t pitch, DeviceBuffer<std::uint8_t>& planes,
                                                          cudaStream_t stream) {
  // Indices of planes on the device, by their address and pitch on the host. Two planes with one address are different
  // if their pitches are, such as a frame and its upper field.
  std::map<std::pair<const std::uint8_t*, std::ptrdiff_t>, std::size_t> places;
  for (const MotionPair& pair : pairs) {
    for (const ConstPlaneView& plane : {pair.current, pair.reference}) {
      if (!device_with(plane.data)) places.emplace(std::pair(plane.data, plane.pitch), places.size());
    }
  }
  if (pairs.empty()) return {};
  const ConstPlaneView& shape = pairs[0].current;
  const std::size_t plane_size = static_cast<std::size_t>(pitch) * static_cast<std::size_t>(shape.height);
  std::uint8_t* const memory = make_room(planes, places.size() * plane_size);
  for (const auto& [plane, place] : places) {
    check(cudaMemcpy2DAsync(memory + place * plane_size, static_cast<std::size_t>(pitch), plane.first,
                            static_cast<std::size_t>(plane.second), static_cast<std::size_t>(shape.width),
                            static_cast<std::size_t>(shape.height), cudaMemcpyHostToDevice, stream),
          "cudaMemcpy2DAsync");
  }
  const auto on_device = [&](const ConstPlaneView& plane) {
    const auto place = places.find({plane.data, plane.pitch});
    return place == places.end() ? plane : ConstPlaneView{memory + place->second * plane_size, plane.width, plane.height, pitch};
  };
  std::vector<MotionPair> moved;
  for (const MotionPair& pair : pairs) moved.push_back({on_device(pair.current), on_device(pair.reference)});
  return moved;
}

}  // namespace c63::cuda
