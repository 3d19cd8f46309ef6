// Runs c63bench me as on a card whose shared memory is too small for a step of the course.
#if defined(C63_HAVE_CUDA)

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/bench.h"
#include "c63/cuda/devices.h"
#include "cuda_me/runtime/needs.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

namespace c63::bench {
namespace {

TEST(OldCard, AStepThatDoesNotFitIsNamedAndTheOthersAreMeasured) {
  if (cuda::devices().state != cuda::DeviceState::usable) GTEST_SKIP() << "no usable GPU: " << cuda::devices().reason;
  const cuda::PretendedCard card(75);
  const test::TemporaryFolder folder;
  Options options;
  options.sizes = {"64x48"};
  options.contents = {"noise"};
  options.frames = 3;
  options.range = 72;  // in the window of step `sums`, that is 67,656 bytes; the card has 65,536
  options.jobs = {1};
  options.repeats = 1;
  options.verify = true;
  options.json = folder.file("figures.json");
  bench_me(options);
  const auto bytes = test::read_bytes(options.json);
  std::vector<std::string> measured;
  std::vector<std::string> too_large;
  for (const Json& row : Json::parse(bytes.begin(), bytes.end()).at("results")) {
    (row.contains("not_measured") ? too_large : measured).push_back(row.at("kernel"));
    EXPECT_TRUE(row.contains("not_measured") || row.at("equal").get<bool>()) << row;
  }
  EXPECT_EQ(too_large, std::vector<std::string>{"sums"});
  EXPECT_EQ(measured.back(), "automatic");  // the last kernel
}

}  // namespace
}  // namespace c63::bench

#endif
