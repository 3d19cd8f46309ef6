// Tests the search for a bit rate if no GOP may exceed a cap. Videos are simulated: a function gives the size of a GOP
// from its quality.

#include "c63/gop_cap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "c63/encoder.h"
#include "decide/flat_tables.h"
#include "decide/planner.h"
#include "decide/presets.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/made_up_bits.h"

namespace c63::test::gop_cap_test {
namespace {

constexpr double kFramesPerSecond = 25;

struct Gop {
  std::int64_t frames = 10;
  double bytes_at_25 = 50'000;
  double slope = 0.6;
  double jump = 0.01;  ///< change of bits, in octaves, at a step of flat tables
  double wobble = 0;   ///< random change of bits, in octaves
};

struct Video {
  std::vector<Gop> gops;
  bool course = false;

  [[nodiscard]] CodingSettings settings() const {
    return {.width = 352, .height = 288, .preset = course ? Preset::reference : Preset::good};
  }
  [[nodiscard]] std::uint64_t bytes(const Gop& gop, GopQuality quality) const {
    CodingSettings coding = settings();
    coding.qp = quality.qp;
    coding.rate.lambda_scale = quality.lambda_scale;
    const double place = place_by_decisions(coding);
    const double steps = course ? 0 : (12.0 - flat_tables(quality.qp)[0][0]) / 4;
    Random random(static_cast<std::uint64_t>((place + 16) * 1e9) + static_cast<std::uint64_t>(gop.bytes_at_25));
    const double wobble = gop.wobble * (random.below(1000) / 1000.0 - 0.5);
    return static_cast<std::uint64_t>(gop.bytes_at_25 * std::exp2(gop.slope * place + gop.jump * steps + wobble));
  }
  [[nodiscard]] std::vector<GopFigures> encode(const CappedPass& pass) const {
    std::vector<GopFigures> figures;
    std::int64_t first = 0;
    for (const Gop& gop : gops) {
      const auto own = pass.gops.find(first);
      const GopQuality quality =
          own != pass.gops.end() ? own->second : GopQuality{pass.settings.qp, pass.settings.rate.lambda_scale};
      figures.push_back({first, gop.frames, bytes(gop, quality)});
      first += gop.frames;
    }
    return figures;
  }
};

PassFigures sum_of(const std::vector<GopFigures>& gops) {
  PassFigures sum{.frames_per_s = kFramesPerSecond};
  for (const GopFigures& gop : gops) {
    sum.frames += gop.frames;
    sum.bytes += gop.bytes;
  }
  return sum;
}

double rate_of(const PassFigures& figures) {
  return static_cast<double>(figures.bytes) * 8 * kFramesPerSecond / static_cast<double>(figures.frames);
}

Video random_video(Random& random, bool course, double wobble) {
  Video video{.gops = {}, .course = course};
  const auto count = 1 + random.below(12);
  for (std::uint32_t i = 0; i < count; ++i) {
    video.gops.push_back({.frames = 1 + random.below(30),
                          .bytes_at_25 = 2000.0 + random.below(200'000),
                          .slope = 0.4 + random.below(60) * 0.01,
                          .jump = (static_cast<int>(random.below(60)) - 30) * 0.001,
                          .wobble = wobble});
  }
  return video;
}

TEST(CappedSearch, KeepsTheRateAndTheCap) {
  Random random(4);
  std::size_t passes = 0;
  std::size_t most = 0;
  int searches = 0;
  int filled = 0;
  int own = 0;
  for (int i = 0; i < 400; ++i) {
    const Video video = random_video(random, i % 4 == 0, i % 3 == 0 ? 0.03 : 0);
    CappedPass wanted{video.settings(), {}};
    wanted.settings.qp = 12 + random.below(2500) * 0.01;
    const double rate = rate_of(sum_of(video.encode(wanted)));
    const double cap = 1 + random.below(200) * 0.01;
    CappedSearch search(video.settings(), rate, cap);
    std::vector<GopFigures> last;
    try {
      do {
        last = video.encode(search.next());
      } while (!search.add(sum_of(last), last));
    } catch (const Error& error) {
      EXPECT_EQ(error.id(), "C63-GOP-CAP") << error.what();
      const GopQuality lowest{least_qp(video.settings()), video.course ? 1.0 : 4.0};
      EXPECT_TRUE(std::ranges::any_of(video.gops, [&](const Gop& gop) {
        return static_cast<double>(video.bytes(gop, lowest)) > cap * rate / 8 * static_cast<double>(gop.frames) / kFramesPerSecond;
      })) << error.what();
      continue;
    }
    ++searches;
    passes += search.passes().size();
    most = std::max(most, search.passes().size());
    own += search.next().gops.empty() ? 0 : 1;
    EXPECT_EQ(search.over(), 0);
    EXPECT_LE(rate_of(sum_of(last)), rate);
    for (const GopFigures& gop : last) {
      EXPECT_LE(static_cast<double>(gop.bytes), cap * rate / 8 * static_cast<double>(gop.frames) / kFramesPerSecond) << i;
    }
    filled += search.met() ? 1 : 0;
    // If the whole video stays clearly below the target, every GOP must be near its cap. This is not tested if the
    // video already has the highest quality.
    const GopQuality highest{kMaxQp, video.course ? 1 : 0.05};
    const GopQuality of_video{search.next().settings.qp, search.next().settings.rate.lambda_scale};
    if (search.met() || search.distance() > -0.03 || of_video == highest) continue;
    for (const GopFigures& gop : last) {
      EXPECT_GE(static_cast<double>(gop.bytes), 0.9 * cap * rate / 8 * static_cast<double>(gop.frames) / kFramesPerSecond) << i;
    }
  }
  EXPECT_GT(searches, 300);
  EXPECT_GT(own, 200);
  EXPECT_GT(filled, searches * 9 / 10);
  EXPECT_LT(passes, static_cast<std::size_t>(searches) * 5);
  EXPECT_LE(most, 16U);
}

TEST(CappedSearch, AVideoOfEqualGopsIsCodedAsWithoutACap) {
  const Video video{.gops = std::vector<Gop>(8)};
  CappedPass wanted{video.settings(), {}};
  wanted.settings.qp = 18;
  const double rate = rate_of(sum_of(video.encode(wanted)));
  CappedSearch capped(video.settings(), rate, 3);
  while (!capped.add(sum_of(video.encode(capped.next())), video.encode(capped.next()))) {
  }
  TargetSearch plain(video.settings(), {Target::Kind::bitrate, rate});
  while (!plain.add(sum_of(video.encode({plain.next(), {}})))) {
  }
  EXPECT_TRUE(capped.next().gops.empty());
  EXPECT_EQ(capped.passes().size(), plain.passes().size());
  EXPECT_EQ(capped.passes().back().qp, plain.passes().back().qp);
  EXPECT_EQ(capped.passes().back().lambda_scale, plain.passes().back().lambda_scale);
}

TEST(CappedSearch, AGopThatIsAlwaysTooLargeIsNamed) {
  Video video{.gops = std::vector<Gop>(4)};
  video.gops[2].bytes_at_25 = 1e7;
  CappedSearch search(video.settings(), 20'000 * 8 * 2.5, 1.5);
  const auto error = expect_error(ErrorKind::limit, "C63-GOP-CAP", [&] {
    while (!search.add(sum_of(video.encode(search.next())), video.encode(search.next()))) {
    }
  });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message().find("frames 20 to 29 may take 30000 bytes"), std::string::npos) << error->message();
}

TEST(CappedSearch, ImpossibleCapsAreRefused) {
  for (const double cap : {0.99, 0.0, -1.0, std::nan(""), HUGE_VAL}) {
    expect_error(ErrorKind::usage, "C63-GOP-CAP", [&] { CappedSearch({.width = 16, .height = 16}, 1000, cap); });
  }
  expect_error(ErrorKind::usage, "C63-TARGET", [&] { CappedSearch({.width = 16, .height = 16}, 0, 1.5); });
}

TEST(CappedSearch, PlansAreThoseOfTheGopsOwnQuality) {
  CappedPass pass;
  pass.settings = {.width = 16, .height = 16, .preset = Preset::best, .qp = 30};
  pass.gops[10] = {12, 1.5};
  const PlannerFactory factory = planner_of(pass);
  pass.gops.clear();  // the planners keep their own copy
  for (const auto& [key, qp, scale] : {std::tuple{0, 30.0, 1.0}, {10, 12.0, 1.5}, {20, 30.0, 1.0}}) {
    CodingSettings own = pass.settings;
    own.qp = qp;
    own.rate.lambda_scale = scale;
    const auto planner = factory();
    const auto own_planner = make_planner_factory(own)();
    EXPECT_EQ(planner->lookahead(key), preset_decisions(own).lookahead);
    for (int i = 0; i < 3; ++i) {
      const FramePlan plan = planner->plan({.index = key + i, .key = i == 0});
      EXPECT_EQ(plan.key, i == 0);
      const FramePlan expected = own_planner->plan({.index = key + i, .key = i == 0});
      EXPECT_EQ(plan.tables, expected.tables);
      EXPECT_EQ(plan.headers, expected.headers);
      EXPECT_EQ(plan.rate, expected.rate);
    }
  }
}

}  // namespace
}  // namespace c63::test::gop_cap_test
