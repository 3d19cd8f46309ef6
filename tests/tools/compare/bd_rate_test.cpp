#include "c63/bd_rate.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace c63::tools {
namespace {

// The curves of the example for low bit rates in the `bjontegaard` packages of FAU Erlangen-Nürnberg. By their PCHIP
// method, these packages give the figures of the JVET spreadsheet. The example does not list its results. So a separate
// Python program computed the expected values from the definition, with exact integrals.
const std::vector<RdPoint> kAnchor = {{9487.76, 40.037}, {4593.60, 38.615}, {2486.44, 36.845}, {1358.24, 34.851}};
const std::vector<RdPoint> kTest = {{9787.80, 40.121}, {4469.00, 38.651}, {2451.52, 36.970}, {1356.24, 34.987}};

// Points and results from the spreadsheet of JCTVC-E137, which also computes BD-rate with piecewise cubics. The tests
// of Netflix' VMAF contain them as fractions instead of per cent (python/test/bd_rate_calculator_test.py).
TEST(BdRateTest, EqualsTheSpreadsheetOfTheJctVc) {
  const std::vector<RdPoint> anchor = {{108048.8736, 43.6471}, {61279.976, 40.3953}, {33905.6656, 37.247}, {18883.6928, 34.2911}};
  const std::vector<RdPoint> test = {{108061.2784, 43.6768}, {61299.9936, 40.4232}, {33928.7472, 37.2761}, {18910.912, 34.3147}};
  EXPECT_NEAR(bjontegaard_delta(anchor, test).rate_percent.value(), -0.465215420752807, 1e-10);
  const std::vector<RdPoint> anchor_2 = {{40433.8848, 37.5761}, {7622.7456, 35.3756}, {2394.488, 33.8977}, {1017.6184, 32.0603}};
  const std::vector<RdPoint> test_2 = {{40370.12, 37.5982}, {7587.0024, 35.4025}, {2390.0944, 33.9194}, {1017.0984, 32.0822}};
  EXPECT_NEAR(bjontegaard_delta(anchor_2, test_2).rate_percent.value(), -1.8779823450567612, 1e-10);
}

TEST(BdRateTest, AgreesWithOtherPrograms) {
  const BdResult erlangen = bjontegaard_delta(kAnchor, kTest);
  EXPECT_NEAR(erlangen.rate_percent.value(), -4.4174854, 1e-6);
  EXPECT_NEAR(erlangen.quality.value(), 0.1196928, 1e-6);
}

TEST(BdRateTest, OrderOfPointsDoesNotMatter) {
  const std::vector<RdPoint> reversed(kTest.rbegin(), kTest.rend());
  EXPECT_DOUBLE_EQ(*bjontegaard_delta(kAnchor, reversed).rate_percent, *bjontegaard_delta(kAnchor, kTest).rate_percent);
}

TEST(BdRateTest, AConstantFactorIsFoundExactly) {
  std::vector<RdPoint> dearer = kAnchor;
  for (RdPoint& p : dearer) p.rate *= 1.25;
  EXPECT_NEAR(*bjontegaard_delta(kAnchor, dearer).rate_percent, 25, 1e-9);
  EXPECT_NEAR(*bjontegaard_delta(dearer, kAnchor).rate_percent, -20, 1e-9);
  std::vector<RdPoint> better = kAnchor;
  for (RdPoint& p : better) p.quality += 0.5;
  EXPECT_NEAR(*bjontegaard_delta(kAnchor, better).quality, 0.5, 1e-9);
}

TEST(BdRateTest, SaysWhyThereIsNoRate) {
  std::vector<RdPoint> far = kAnchor;
  for (RdPoint& p : far) p.quality += 10;
  EXPECT_TRUE(bjontegaard_delta(kAnchor, far).quality) << "the rates do overlap";
  std::vector<RdPoint> falling = kTest;
  falling[1].quality = 41;
  std::vector<RdPoint> lossless = kTest;
  lossless[0].quality = std::numeric_limits<double>::infinity();
  const std::vector<RdPoint> three(kAnchor.begin(), kAnchor.begin() + 3);
  for (const auto& [anchor, test] :
       {std::pair{kAnchor, far}, {three, kTest}, {kAnchor, {}}, {kAnchor, falling}, {kAnchor, lossless}}) {
    const BdResult none = bjontegaard_delta(anchor, test);
    EXPECT_TRUE(!none.rate_percent && !none.why_not.empty());
  }
}

}  // namespace
}  // namespace c63::tools
