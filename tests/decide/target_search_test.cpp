// Tests the search for a target. Videos are simulated: functions give the bits and the quality from the quality
// setting.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "c63/target.h"
#include "decide/flat_tables.h"
#include "decide/presets.h"
#include "support/expect_error.h"
#include "support/generators.h"

namespace c63::test::target_search_test {
namespace {

/// Returns how far the quality of `settings` is above qp 25, in octaves of qp, for simulated videos. It follows from
/// the decisions alone. So settings with equal decisions, which would give the same bytes, also get the same value.
double place_by_decisions(CodingSettings settings) {
  const auto measure = [](const CodingSettings& of) {
    const PresetDecisions decisions = preset_decisions(of);
    if (decisions.rate.any()) return std::log2(static_cast<double>(decisions.rate.lambda)) / decisions.lambda_power;
    int sum = 0;
    for (const QuantizationTable& table : decisions.tables) sum = std::accumulate(table.begin(), table.end(), sum);
    return -std::log2(static_cast<double>(sum));
  };
  const double place = measure(settings);
  settings.qp = 25;
  settings.rate.lambda_scale = 1;
  return place - measure(settings);
}

/// A simulated video. Its bits and PSNR rise with the quality: steadily, and with a jump wherever the entries of the
/// flat tables change. The jump may also go down.
struct Video {
  double bytes_at_25 = 500'000;
  double bits_slope = 0.6;  ///< octaves of bits per octave of qp
  double bend = 0.03;
  double jump = 0.01;  ///< change of bits, in octaves, if the entries of flat tables fall by 4
  double psnr_at_25 = 38;
  double psnr_slope = 3;
  bool course = false;

  [[nodiscard]] PassFigures encode(const CodingSettings& settings) const {
    const double place = place_by_decisions(settings);
    const double steps = course ? 0 : std::max(-8.0, (12.0 - flat_tables(settings.qp)[0][0]) / 4);
    const double bent = std::max(place, bend > 0 ? -0.5 * bits_slope / bend : place);  // bits never rise towards lower qualities
    const double bits = bits_slope * place + bend * (2 * place - bent) * bent + jump * steps;
    const double psnr = psnr_at_25 + psnr_slope * place + jump * 5 * steps;
    return {.frames = 100,
            .bytes = static_cast<std::uint64_t>(bytes_at_25 * std::exp2(bits)),
            .psnr_y_db = psnr,
            .psnr_all_db = psnr + 1,
            .ssim_y = 1 - std::pow(10, -psnr / 20)};
  }
};

CodingSettings settings_of(const Video& video) {
  return {.width = 352, .height = 288, .preset = video.course ? Preset::reference : Preset::good};
}

struct Outcome {
  TargetPass kept;
  std::size_t passes = 0;
  bool met = false;
};
/// Makes all passes. encode(settings) returns the figures of one. Checks that no pass is made twice, that a search without
/// known passes makes at most 8, and that the pass which is kept is the best. Returns the number of passes.
std::size_t finish(TargetSearch& search, const std::function<PassFigures(const CodingSettings&)>& encode) {
  const bool knows_nothing = search.passes().empty();
  std::vector<PresetDecisions> made;
  std::optional<CodingSettings> kept;
  for (bool done = false; !done;) {
    const CodingSettings next = search.next();
    EXPECT_FALSE(std::ranges::find(made, preset_decisions(next)) != made.end()) << "qp " << next.qp;
    made.push_back(preset_decisions(next));
    done = search.add(encode(next));
    if (search.is_best()) kept = next;
  }
  EXPECT_TRUE(made.size() <= 8 || !knows_nothing) << made.size();
  if (!kept) throw std::logic_error("no pass was kept");
  EXPECT_EQ(std::pair(kept->qp, kept->rate.lambda_scale), std::pair(search.best()->qp, search.best()->lambda_scale));
  EXPECT_EQ(std::pair(kept->qp, kept->rate.lambda_scale), std::pair(search.next().qp, search.next().rate.lambda_scale));
  return made.size();
}
std::size_t finish(TargetSearch& search, const Video& video) {
  return finish(search, [&](const CodingSettings& settings) { return video.encode(settings); });
}

Outcome search(const Video& video, const Target& target, std::vector<TargetPass> known = {}) {
  TargetSearch search(settings_of(video), target, known);
  const std::size_t passes = finish(search, video);
  return {*search.best(), passes, search.met()};
}

Video random_video(Random& random, bool course) {
  return {.bytes_at_25 = 1000.0 + random.below(2'000'000),
          .bits_slope = 0.4 + random.below(100) * 0.01,
          .bend = (static_cast<int>(random.below(100)) - 30) * 0.001,
          .jump = (static_cast<int>(random.below(100)) - 50) * 0.001,
          .psnr_at_25 = 30.0 + random.below(15),
          .psnr_slope = 1.5 + random.below(40) * 0.1,
          .course = course};
}

TEST(TargetSearch, MeetsPossibleTargetsInAFewPasses) {
  Random random(3);
  std::size_t passes = 0;
  int searches = 0;
  int unmet = 0;
  for (int i = 0; i < 600; ++i) {
    const Video video = random_video(random, i % 4 == 0);
    // The target is what a random qp gives, so it can be met.
    CodingSettings wanted = settings_of(video);
    wanted.qp = 5.5 + random.below(4300) * 0.01;
    const PassFigures there = video.encode(wanted);
    const double bitrate = static_cast<double>(there.bytes) * 8 * 25 / 100;
    for (const Target& target :
         {Target{Target::Kind::bytes, static_cast<double>(there.bytes)}, Target{Target::Kind::bitrate, bitrate},
          Target{Target::Kind::psnr_y, *there.psnr_y_db}, Target{Target::Kind::psnr_all, *there.psnr_all_db},
          Target{Target::Kind::ssim_y, *there.ssim_y}}) {
      const Outcome outcome = search(video, target);
      const PassFigures& figures = outcome.kept.figures;
      passes += outcome.passes;
      ++searches;
      if (!outcome.met) {
        ++unmet;
        continue;
      }
      if (target.kind == Target::Kind::bytes) {
        ASSERT_LE(figures.bytes, there.bytes);
        ASSERT_GE(static_cast<double>(figures.bytes), 0.989 * static_cast<double>(there.bytes));
      }
      if (target.kind == Target::Kind::psnr_all) {
        ASSERT_NEAR(*figures.psnr_all_db, target.value, 0.05 + 1e-9);
      }
    }
  }
  EXPECT_LE(unmet, searches / 500);
  EXPECT_LE(static_cast<double>(passes) / searches, 4);
}

TEST(TargetSearch, BeginsWithWhatIsKnown) {
  const Video video;
  const Target target{Target::Kind::bytes, 350'000};
  TargetSearch first(settings_of(video), target);
  finish(first, video);
  const Outcome again = search(video, target, first.passes());
  EXPECT_EQ(again.passes, 1U);
  EXPECT_TRUE(again.met);
  EXPECT_EQ(again.kept.qp, first.best()->qp);
  EXPECT_LT(search(video, {Target::Kind::bytes, 340'000}, first.passes()).passes, first.passes().size());
}

/// The search gets known passes, but they belong to another video. It must notice this and still meet its target.
TEST(TargetSearch, PassesOfAnotherEncodeAreFoundOutAndDropped) {
  const Video video;
  for (const Video& other : {Video{.bytes_at_25 = 400'000}, Video{.bytes_at_25 = 900'000}, Video{.bits_slope = 0.5}}) {
    for (const double size : {200'000.0, 350'000.0, 480'000.0}) {
      const Target target{Target::Kind::bytes, size};
      TargetSearch first(settings_of(other), target);
      finish(first, other);
      const Outcome outcome = search(video, target, first.passes());
      EXPECT_TRUE(outcome.met) << size;
      EXPECT_LE(static_cast<double>(outcome.kept.figures.bytes), size);
    }
  }
}

TEST(TargetSearch, FiguresThatWereNotMeasuredAreNotUsed) {
  const Video video;
  TargetSearch first(settings_of(video), {Target::Kind::bytes, 350'000});
  const auto encode = [&](const CodingSettings& settings) {
    PassFigures figures = video.encode(settings);
    figures.ssim_y.reset();
    return figures;
  };
  finish(first, encode);
  const Target target{Target::Kind::ssim_y, 0.985};
  TargetSearch fresh(settings_of(video), target);
  TargetSearch again(settings_of(video), target, first.passes());
  EXPECT_TRUE(again.passes().empty());
  EXPECT_EQ(again.next().qp, fresh.next().qp);
  EXPECT_TRUE(expect_error(ErrorKind::usage, "C63-TARGET", [&] { again.add(encode(again.next())); }));
}

TEST(TargetSearch, AnImpossibleTargetIsReportedAfterTwoPasses) {
  for (const bool course : {false, true}) {
    const Video video{.course = course};
    TargetSearch small(settings_of(video), {Target::Kind::bytes, 1000});
    ASSERT_FALSE(small.add(video.encode(small.next())));
    EXPECT_TRUE(expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [&] { small.add(video.encode(small.next())); }));
    // The passes of the first search already show that a smaller target is impossible. So a second search that knows
    // them makes no pass.
    EXPECT_TRUE(expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [&] {
      TargetSearch(settings_of(video), {Target::Kind::bytes, 900}, small.passes());
    }));
    EXPECT_EQ(search(video, {Target::Kind::psnr_y, 99}).passes, 2U);
    EXPECT_EQ(search(video, {Target::Kind::bytes, 1e12}).passes, 2U);
  }
}

TEST(TargetSearch, ManyKnownPassesDoNotEndASearch) {
  const Video video;
  std::vector<TargetPass> known;
  for (int i = 0; i < 40; ++i) {
    CodingSettings settings = settings_of(video);
    settings.qp = 10 + i;
    known.push_back({settings.qp, 1, video.encode(settings)});
  }
  EXPECT_TRUE(search(video, {Target::Kind::psnr_y, 37.93}, known).met);
}

TEST(TargetSearch, KnownPassesNeverCostTheTarget) {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    Video video = random_video(random, false);
    video.jump *= 4;  // bits and quality may even fall when steps become finer
    const auto draw = [&] { return Target{Target::Kind::psnr_y, video.psnr_at_25 + random.below(100) * 0.05 - 2.5}; };
    TargetSearch first(settings_of(video), draw());
    finish(first, video);
    const Target target = draw();
    TargetSearch second(settings_of(video), target, first.passes());
    finish(second, video);
    EXPECT_TRUE(second.met() || !search(video, target).met) << i;
  }
}

TEST(TargetSearch, AQualityBeyondTheFormatIsApproached) {
  const Video video;
  const Outcome best = search(video, {Target::Kind::psnr_y, 99});
  EXPECT_FALSE(best.met);
  EXPECT_EQ(best.kept.qp, 50);
  EXPECT_EQ(best.kept.lambda_scale, 0.05);
  const Outcome worst = search(video, {Target::Kind::psnr_y, 1});
  EXPECT_FALSE(worst.met);
  EXPECT_EQ(worst.kept.qp, 1);
  EXPECT_EQ(worst.kept.lambda_scale, 4);
  // Even the best quality takes less than this size. So the best quality is used, and the target is not met.
  const Outcome large = search(video, {Target::Kind::bytes, 1e12});
  EXPECT_FALSE(large.met);
  EXPECT_EQ(large.kept.lambda_scale, 0.05);
}

/// Without λ, all qualities with the same flat tables give the same bytes. Flat tables change only in steps, so the
/// bytes stay the same over long ranges of the quality. The search must get past such a range.
TEST(TargetSearch, ATargetBeyondAPlateauIsFound) {
  const CodingSettings settings{.width = 16, .height = 16, .preset = Preset::reference, .rate = {.tables = TableShape::flat}};
  const auto figures_of = [](const CodingSettings& s) {
    return PassFigures{.frames = 1, .bytes = 100'000U / preset_decisions(s).tables[0][0]};
  };
  for (const int step : {8, 16, 20, 40, 60}) {
    TargetSearch search(settings, {Target::Kind::bytes, 100'000.0 / step});
    finish(search, figures_of);
    EXPECT_TRUE(search.met()) << step;
  }
}

/// Here a video can only have 100 or 200 bytes. For a target of 150 bytes, the search must end with 100.
TEST(TargetSearch, AStaircaseEndsBelowASize) {
  const CodingSettings settings{.width = 16, .height = 16, .preset = Preset::reference};
  TargetSearch search(settings, {Target::Kind::bytes, 150});
  const auto bytes = [](const CodingSettings& s) { return PassFigures{.frames = 1, .bytes = s.qp < 20 ? 100U : 200U}; };
  finish(search, bytes);
  EXPECT_EQ(search.best()->figures.bytes, 100U);
  EXPECT_NE(search.shortfall().find("--preset good"), std::string::npos);
  EXPECT_FALSE(search.met());
}

/// The error of a size that is too small names options that would do. Here the lowest quality takes 40,000 bytes: 100
/// frames in 4 GOPs, of whose bytes 16,000 are for key frames.
TEST(TargetSearch, AnErrorNamesOptionsThatWouldDo) {
  struct Case {
    Preset preset;
    Target target;
    std::optional<std::uint64_t> key_bytes;
    std::string options;
  };
  constexpr auto kSize = Target::Kind::bytes;
  const std::vector<Case> cases = {{Preset::fast, {kSize, 37'000}, 16'000, "--frame-interval 3"},
                                   {Preset::fast, {kSize, 20'000}, 16'000, "--frame-interval 13"},
                                   {Preset::fast, {kSize, 16'100}, 16'000, "--size 16100k"},
                                   {Preset::fast, {kSize, 39}, 16'000, ""},
                                   {Preset::fast, {kSize, 30'000}, {}, ""},
                                   {Preset::fast, {Target::Kind::bitrate, 800}, 16'000, "--bitrate 800k"},
                                   {Preset::reference, {kSize, 15'000}, 16'000, "--preset good"},
                                   {Preset::reference, {kSize, 12'000}, 16'000, "--preset good --frame-interval 4"},
                                   {Preset::reference, {kSize, 20}, 16'000, "--preset good --size 20k"}};
  for (const Case& c : cases) {
    TargetSearch search({.width = 352, .height = 288, .preset = c.preset, .key_interval = 25}, c.target);
    const auto error = expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [&] {
      while (!search.add({.frames = 100, .bytes = 40'000, .key_bytes = c.key_bytes})) {
      }
    });
    ASSERT_TRUE(error);
    const std::size_t begin = error->message().find("--");
    const std::string named = begin == std::string::npos ? "" : error->message().substr(begin, error->message().rfind(" would do") - begin);
    EXPECT_EQ(named, c.options) << error->message();
  }
}

/// The message of a target that is not met names options only where these help.
TEST(TargetSearch, AShortfallNamesOptionsThatHelp) {
  struct Case {
    Video video;
    Target target;
    std::string options;
  };
  const Video course{.psnr_at_25 = 35, .course = true};
  for (const auto& [video, target, options] : {Case{course, {Target::Kind::psnr_y, 40}, "--preset good would do"},
                                               {course, {Target::Kind::psnr_y, 60}, "--target-psnr 38.1 would do"},
                                               {course, {Target::Kind::psnr_all, 5}, "--preset good goes lower"},
                                               {course, {Target::Kind::bytes, 1e12}, ""},
                                               {{}, {Target::Kind::psnr_all, 60}, "--target-psnr all:52.88 would do"}}) {
    TargetSearch search(settings_of(video), target);
    finish(search, video);
    EXPECT_FALSE(search.met()) << describe(target);
    const std::string text = search.shortfall();
    const std::size_t begin = text.find("--");
    EXPECT_EQ(begin == std::string::npos ? "" : text.substr(begin), options) << text;
  }
}

TEST(TargetSearch, ImpossibleTargetsAreWrongUsage) {
  for (const Target& target : {Target{Target::Kind::bytes, 0}, Target{Target::Kind::bitrate, -1}, Target{Target::Kind::psnr_y, 0},
                               Target{Target::Kind::ssim_y, 1}, Target{Target::Kind::ssim_y, 0},
                               Target{Target::Kind::psnr_all, std::nan("")}}) {
    expect_error(ErrorKind::usage, "C63-TARGET", [&] { TargetSearch({.width = 16, .height = 16}, target); });
  }
}

TEST(TargetSearch, PassesHaveNoReferencesThatAlternate) {
  const Target target{Target::Kind::bytes, 100'000};
  const auto searched = [&](Preset preset, std::optional<bool> wanted) {
    return TargetSearch({.width = 352, .height = 288, .preset = preset, .rate = {.adaptive_reference = wanted}}, target)
        .next()
        .rate.adaptive_reference;
  };
  EXPECT_EQ(searched(Preset::good, {}), false);
  EXPECT_EQ(searched(Preset::good, true), true);
  EXPECT_EQ(searched(Preset::best, {}), std::nullopt);
  EXPECT_EQ(searched(Preset::reference, {}), std::nullopt);
}

}  // namespace
}  // namespace c63::test::target_search_test
