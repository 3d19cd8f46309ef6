#include "decide/presets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "decide/flat_tables.h"
#include "decide/planner.h"
#include "decide/repeat_frame.h"

namespace c63::test::presets_test {
namespace {

TEST(Presets, BestHasALambdaThatFallsFasterWithTheQuality) {
  for (const double qp : {5.0, 15.0, 40.0}) {
    const CodingSettings best{.preset = Preset::best, .qp = qp};
    const double good = preset_decisions({.preset = Preset::good, .qp = qp}).rate.lambda;
    EXPECT_NEAR(preset_decisions(best).rate.lambda, good * std::pow(std::max(qp, 10.0) / 12, -0.3), 0.01 * good) << qp;
    EXPECT_EQ(preset_decisions(best).lookahead.lambda, preset_decisions(best).rate.lambda);
    EXPECT_DOUBLE_EQ(preset_decisions(best).lambda_power, -1.5);
    if (qp < 10) continue;
    // A qp that is a tenth higher lowers lambda, and lambda_scale raises it again by the same factor. The search for
    // targets takes these settings for equal to `best`, so their lambdas must be equal.
    CodingSettings higher = best;
    higher.qp = 1.1 * qp;
    higher.rate.lambda_scale = std::pow(1.1, 1.5);
    EXPECT_NEAR(preset_decisions(higher).rate.lambda, preset_decisions(best).rate.lambda, 0.01 * good) << qp;
  }
}

TEST(Presets, AWeightIsAQuarterOfAnOctaveOfLambda) {
  for (const int quarters : {-4, -1, 0, 1, 6}) {
    CodingSettings settings{.preset = Preset::good};
    settings.rate.chroma_lambda = std::exp2(quarters / 4.0);
    EXPECT_EQ(preset_decisions(settings).rate.chroma_weight, kPlainWeight + quarters);
  }
}

/// A frame's new_content() for which a GOP can win back the bits of tables.
constexpr std::int64_t kMuch = 1000;

TEST(Presets, BestCodesKeyFramesThatAreSeenLongMoreFinely) {
  const auto weights = [](Weight first) { return std::make_shared<const FrameWeights>(FrameWeights{first, 7, 7, 7}); };
  for (const double qp : {1.0, 5.0, 10.0, 20.0, 40.0}) {
    const CodingSettings settings{.width = 32, .height = 32, .preset = Preset::best, .qp = qp};
    const Cost lambda = preset_decisions(settings).rate.lambda;
    const int step = flat_tables(qp)[0][0];
    const auto planner = make_planner_factory(settings)();
    // The weights of a key frame say how long its errors stay visible. The first weights mean just long enough for
    // finer tables, the second not quite. The last case has no weights, so nothing is known and the tables stay normal.
    for (const auto& of_key : {weights(7), weights(8), {}}) {
      const bool finer = of_key && of_key->front() == 7;
      const FramePlan key = planner->plan({.index = 0, .key = true, .weights = of_key});
      const int key_step = key.tables[0][0];
      EXPECT_EQ(key_step % 4, 0);
      EXPECT_NEAR(key_step, (finer ? 0.8 : 1) * step, 2) << qp;
      for (const QuantizationTable& table : key.tables) {
        EXPECT_EQ(std::set<int>(table.begin(), table.end()), std::set<int>{key_step});
      }
      EXPECT_NEAR(key.rate.lambda, (finer ? 0.707 : 1) * lambda, 0.01 * lambda) << qp;
      EXPECT_TRUE(key.headers.quantization_tables);
      // This frame may become a repeat, which cannot send new tables. So its plan keeps the tables of the key frame.
      const FramePlan repeat = planner->plan({.index = 1, .hardly_new = true});
      EXPECT_EQ(repeat.tables, key.tables);
      EXPECT_FALSE(repeat.headers.quantization_tables);
      EXPECT_TRUE(repeat.rate.repeats);
      EXPECT_EQ(repeat.rate.lambda, lambda);
      for (const bool first : {true, false}) {
        const FramePlan next = planner->plan({.index = first ? 2 : 3, .new_content = kMuch});
        EXPECT_EQ(next.tables, flat_tables(qp));
        EXPECT_EQ(next.headers.quantization_tables, finer && first);
        EXPECT_EQ(next.rate.repeats, !finer || !first);
        EXPECT_EQ(next.rate.lambda, lambda);
      }
    }
  }
  // Even a normal inter frame, if it is the first after the key frame, keeps the key frame's finer tables.
  const auto planner = make_planner_factory({.width = 32, .height = 32, .preset = Preset::best, .qp = 20})();
  EXPECT_EQ(planner->plan({.index = 4, .key = true, .weights = weights(7)}).tables[0][0], 8);
  EXPECT_FALSE(planner->plan({.index = 5}).headers.quantization_tables);
  EXPECT_TRUE(planner->plan({.index = 6, .new_content = kMuch}).headers.quantization_tables);
  EXPECT_EQ(preset_decisions({.preset = Preset::best, .qp = 20}).finer_tables->back()[63], 8);
  // If the settings ask for course tables, key frames do not get finer tables.
  EXPECT_FALSE(preset_decisions({.preset = Preset::best, .rate = {.tables = TableShape::course}}).finer_tables);
  EXPECT_FALSE(preset_decisions({.preset = Preset::good}).finer_tables);
}

TEST(Presets, TheUsualTablesAreSentIfTheGopCanWinThemBack) {
  const auto weights = std::make_shared<const FrameWeights>(4, kPlainWeight - 1);
  // The frames that are left, 88, are expected to be like the twelve so far. 8000 / 88 is 90.9.
  constexpr int kKey = 7;  // not the video's first GOP
  for (const auto& [content, sends] : {std::pair{90, false}, {91, true}}) {
    const auto planner =
        make_planner_factory({.width = 32, .height = 32, .preset = Preset::best, .key_interval = 100})();
    const QuantizationTables finer = planner->plan({.index = kKey, .key = true, .weights = weights}).tables;
    for (int i = 1; i < 12; ++i)
      EXPECT_EQ(planner->plan({.index = kKey + i, .hardly_new = true, .new_content = content}).tables, finer);
    const FramePlan plan = planner->plan({.index = kKey + 12, .new_content = content});
    EXPECT_EQ(plan.headers.quantization_tables, sends);
    EXPECT_EQ(plan.tables != finer, sends);
  }
}

TEST(Presets, BestIgnoresActivityIfErrorsVanishOrAStillPictureShowsThem) {
  const auto weights = std::make_shared<const FrameWeights>(4, kPlainWeight - 1);
  for (const Tune tune : {Tune::psnr, Tune::ssim}) {
    const CodingSettings settings{.width = 32, .height = 32, .preset = Preset::best, .rate = {.tune = tune}};
    const int power = preset_decisions(settings).rate.activity_power;
    const int ignored = tune == Tune::ssim ? power : 0;
    for (const bool still : {false, true}) {
      const auto planner = make_planner_factory(settings)();
      const auto power_of = [&](const FramePosition& frame) { return planner->plan(frame).rate.activity_power; };
      EXPECT_EQ(power_of({.index = 0, .key = true, .weights = weights, .hardly_new = still}), still ? ignored : power);
      EXPECT_EQ(power_of({.index = 1, .hardly_new = still}), still ? ignored : power);
      EXPECT_EQ(power_of({.index = 2, .new_content = kMuch}), power) << "sends the usual tables";
      EXPECT_EQ(power_of({.index = 3, .errors_vanish = true}), ignored);
      EXPECT_EQ(power_of({.index = 4}), power);
    }
  }
}

TEST(Presets, GoodAlternatesUnlessToldOtherwise) {
  for (const Preset preset : {Preset::reference, Preset::fast, Preset::good, Preset::best}) {
    EXPECT_EQ(preset_decisions({.preset = preset}).alternate, preset == Preset::good) << name(preset);
  }
  for (const bool ahead : {false, true}) {
    const PresetDecisions decisions = preset_decisions({.preset = Preset::good, .rate = {.adaptive_reference = ahead}});
    EXPECT_FALSE(decisions.alternate);
    EXPECT_EQ(decisions.lookahead.choose_reference, ahead);
  }
}

TEST(Presets, AFrameThatIsReplacedHasALargerLambdaUnlessWeightsSayIt) {
  const CodingSettings settings{.width = 32, .height = 32, .preset = Preset::good, .rate = {.adaptive_reference = true}};
  const auto planner = make_planner_factory(settings)();
  const Cost lambda = preset_decisions(settings).rate.lambda;
  const auto lambda_of = [&](FramePosition frame) { return planner->plan(frame).rate.lambda; };
  EXPECT_EQ(lambda_of({.index = 1}), lambda);
  EXPECT_EQ(lambda_of({.index = 1, .stays = true}), lambda);
  EXPECT_NEAR(lambda_of({.index = 1, .is_replaced = true}), 1.68 * lambda, 0.01 * lambda);
  const auto weights = std::make_shared<const FrameWeights>(4, kPlainWeight);
  EXPECT_EQ(lambda_of({.index = 1, .weights = weights, .is_replaced = true}), lambda);
  EXPECT_EQ(lambda_of({.index = 1, .is_replaced = true, .errors_vanish = true}), lambda);
}

TEST(Presets, GiveWayToExplicitSettings) {
  CodingSettings settings{.preset = Preset::good, .qp = 20};
  settings.rate = {.tables = TableShape::course, .headers = HeaderSet::full, .choose_levels = false, .candidates = 2,
                   .beam = 3, .unpredicted = false, .repeats = false, .lambda_scale = 2};
  const PresetDecisions decisions = preset_decisions(settings);
  EXPECT_EQ(decisions.tables, make_quantization_tables(20));
  EXPECT_EQ(decisions.key_headers, FrameHeaders{});
  EXPECT_EQ(decisions.inter_headers, FrameHeaders{});
  const RateDecisions& rate = decisions.rate;
  EXPECT_FALSE(rate.choose_levels || rate.unpredicted || rate.repeats);
  EXPECT_EQ(rate.found_vectors, 2);
  EXPECT_EQ(rate.beam_width, 3);
  EXPECT_NEAR(rate.lambda, 2.0 * preset_decisions({.preset = Preset::good, .qp = 20}).rate.lambda, 1.0);
  // With preset reference, flat tables and compact headers do not turn on any decision by rate.
  settings.preset = Preset::reference;
  settings.rate = {.tables = TableShape::flat, .headers = HeaderSet::compact};
  EXPECT_FALSE(preset_decisions(settings).rate.any());
  settings.rate.choose_levels = true;
  EXPECT_TRUE(preset_decisions(settings).rate.any());
}

TEST(FlatTables, AreCoarserForLowerQualityAndEvenForDecoders) {
  int last = 256;
  Cost last_lambda = kMaxLambda;
  for (double qp = 5; qp <= 50; qp += 0.25) {
    const QuantizationTables tables = flat_tables(qp);
    const int step = tables[0][0];
    for (const QuantizationTable& table : tables) {
      EXPECT_EQ(std::set<int>(table.begin(), table.end()), std::set<int>{step});
    }
    EXPECT_EQ(step % 4, 0);
    EXPECT_LE(step, last);
    EXPECT_NEAR(step, 74 * std::pow(qp, -0.6), 2.1);
    const Cost lambda = lambda_of_qp(qp, 1);
    EXPECT_LE(lambda, last_lambda);
    last = step;
    last_lambda = lambda;
  }
  EXPECT_EQ(flat_tables(1)[2][63], 76);
  EXPECT_EQ(flat_tables(5)[2][63], 28);
  EXPECT_EQ(flat_tables(50)[2][63], 8);
}

// The last bit of pow() may differ between machines. The steps come from rounding its result. For no qp in hundredths
// is the result so near to a rounding limit that this bit matters.
TEST(FlatTables, DoNotDependOnTheLastBitsOfPow) {
  for (int hundredths = 500; hundredths <= 5000; ++hundredths) {
    const double sixteenths = 16 * 74 * std::pow(hundredths / 100.0, -0.6);
    EXPECT_GT(std::abs(sixteenths - std::floor(sixteenths) - 0.5), 1e-9) << hundredths;
  }
}

TEST(RepeatFrames, AreCheaperIfTheErrorCostsLessThanTheBits) {
  const Cost lambda = 1000;
  const FrameHeaders headers{.quantization_tables = false, .code_tables = false, .scan_components = false};
  const std::int64_t coded = 5000;  // plus 224 bits of headers, which is 192 more than a repeat has
  const std::int64_t worth = coded + std::int64_t{lambda} * 192;
  const auto error = static_cast<std::uint64_t>(worth / 256);
  const auto expect_limit = [&](const RateDecisions& rate, std::uint64_t limit) {
    EXPECT_TRUE(repeat_is_cheaper(limit - 1, coded, headers, rate));
    EXPECT_FALSE(repeat_is_cheaper(limit, coded, headers, rate));
    EXPECT_EQ(repeat_error_limit(coded, headers, rate), limit);
    EXPECT_FALSE(repeat_is_cheaper(std::uint64_t{1} << 50, coded, headers, rate));
  };
  expect_limit({.lambda = lambda}, error + 1);
  expect_limit({.lambda = lambda, .repeat_margin = 256}, error + 1 + lambda);
}

}  // namespace
}  // namespace c63::test::presets_test
