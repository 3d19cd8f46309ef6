#include "c63/motion.h"

#include <memory>
#include <optional>
#include <string>

#include "c63/error.h"
#include "c63/motion_search.h"
#include "cpu/pair_search.h"

namespace c63 {
namespace {

void require(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

void check_pair(const MotionPair& pair, const MotionPair& first) {
  const auto is_of_size = [&](const ConstPlaneView& plane) {
    return plane.width == first.current.width && plane.height == first.current.height;
  };
  require(pair.current.data != nullptr && pair.reference.data != nullptr, "C63-PLANE-NULL", "a plane without samples");
  require(is_of_size(pair.current) && is_of_size(pair.reference), "C63-PLANE-SIZE", "the planes differ in size");
}

void check_settings(const MotionSettings& settings) {
  require(settings.range >= 1 && settings.range <= 127, "C63-MERANGE-RANGE",
          "search range " + std::to_string(settings.range) + " is outside 1..127: vectors have 7 bits");
  require(settings.zero_bias >= 0 && settings.zero_bias <= 16320, "C63-SETTING",
          "zero bias " + std::to_string(settings.zero_bias) + " is outside 0..16320, the SADs of a block");
  require(settings.second_distance >= 1 && settings.second_distance <= 127, "C63-SETTING",
          "second distance " + std::to_string(settings.second_distance) + " is outside 1..127 samples");
}

}  // namespace

struct PlaneSearcher::State {
  MotionSettings settings;
  std::optional<cpu::PairSearchers> searchers;  ///< made by the first estimate(), which gives the size
};

PlaneSearcher::PlaneSearcher(const MotionSettings& settings) : state_(std::make_unique<State>()) {
  check_settings(settings);
  state_->settings = settings;
}
PlaneSearcher::~PlaneSearcher() = default;
PlaneSearcher::PlaneSearcher(PlaneSearcher&&) noexcept = default;
PlaneSearcher& PlaneSearcher::operator=(PlaneSearcher&&) noexcept = default;

void PlaneSearcher::estimate(std::span<const MotionPair> pairs, const MotionResults& results, const MotionVector* around) {
  if (pairs.empty()) return;
  for (const MotionPair& pair : pairs) check_pair(pair, pairs[0]);
  const ConstPlaneView& plane = pairs[0].current;
  require(plane.width > 0 && plane.height > 0 && plane.width % kBlockSize == 0 && plane.height % kBlockSize == 0, "C63-PLANE-SIZE",
          "plane size " + std::to_string(plane.width) + "x" + std::to_string(plane.height) +
              ": both sides must be multiples of 8");
  require(results.vectors != nullptr, "C63-PLANE-NULL", "there must be room for vectors");
  if (!state_->searchers) state_->searchers.emplace(plane.width, plane.height, state_->settings, cpu::kernels());
  const PlaneGeometry& geometry = state_->searchers->geometry();
  require(plane.width == geometry.width && plane.height == geometry.height, "C63-PLANE-SIZE",
          "the planes differ in size from the previous planes");
  state_->searchers->search(pairs, results, around);
}

void estimate_motion(std::span<const MotionPair> pairs, const MotionSettings& settings, const MotionResults& results,
                     const MotionVector* around) {
  PlaneSearcher(settings).estimate(pairs, results, around);
}

MotionField estimate_motion(ConstPlaneView current, ConstPlaneView reference, int range, SearchMethod method) {
  const MotionPair pair{current, reference};
  check_pair(pair, pair);
  MotionField field{current.width / kBlockSize, current.height / kBlockSize, {}, {}};
  const auto blocks = static_cast<std::size_t>(field.columns) * static_cast<std::size_t>(field.rows);
  field.vectors.resize(blocks);
  field.sads.resize(blocks);
  estimate_motion({&pair, 1}, {.range = range, .method = method}, {field.vectors.data(), field.sads.data()});
  return field;
}

}  // namespace c63
