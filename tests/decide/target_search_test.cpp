// Tests the search for a target. Videos are simulated: functions give the bits and the quality from the quality
// setting.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "c63/target.h"
#include "decide/flat_tables.h"
#include "decide/presets.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/made_up_bits.h"

namespace c63::test::target_search_test {
namespace {

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
  TargetPass last;
  std::size_t passes = 0;
  bool met = false;
};
Outcome search(const Video& video, const Target& target, std::vector<TargetPass> known = {}) {
  TargetSearch search(settings_of(video), target, known);
  while (!search.add(video.encode(search.next()))) {
  }
  return {search.passes().back(), search.passes().size() - known.size(), search.met()};
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
      const PassFigures& figures = outcome.last.figures;
      ASSERT_TRUE(outcome.met) << i << " " << describe(target) << ": qp " << outcome.last.qp << " instead of " << wanted.qp;
      if (target.kind == Target::Kind::bytes) {
        ASSERT_LE(figures.bytes, there.bytes);
        ASSERT_GE(static_cast<double>(figures.bytes), 0.989 * static_cast<double>(there.bytes));
      }
      if (target.kind == Target::Kind::psnr_all) {
        ASSERT_NEAR(*figures.psnr_all_db, target.value, 0.05 + 1e-9);
      }
      EXPECT_LE(outcome.passes, 12U) << i << " " << describe(target);
      passes += outcome.passes;
      ++searches;
    }
  }
  EXPECT_LE(static_cast<double>(passes) / searches, 4.5);
}

TEST(TargetSearch, BeginsWithWhatIsKnown) {
  const Video video;
  const Target target{Target::Kind::bytes, 350'000};
  TargetSearch first(settings_of(video), target);
  while (!first.add(video.encode(first.next()))) {
  }
  const Outcome again = search(video, target, first.passes());
  EXPECT_EQ(again.passes, 1U);
  EXPECT_TRUE(again.met);
  EXPECT_EQ(again.last.qp, first.passes().back().qp);
  EXPECT_LT(search(video, {Target::Kind::bytes, 340'000}, first.passes()).passes, first.passes().size());
}

/// The search gets known passes, but they belong to another video. It must notice this and still meet its target.
TEST(TargetSearch, PassesOfAnotherEncodeAreFoundOutAndDropped) {
  const Video video;
  for (const Video& other : {Video{.bytes_at_25 = 400'000}, Video{.bytes_at_25 = 900'000}, Video{.bits_slope = 0.5}}) {
    for (const double size : {200'000.0, 350'000.0, 480'000.0}) {
      const Target target{Target::Kind::bytes, size};
      TargetSearch first(settings_of(other), target);
      while (!first.add(other.encode(first.next()))) {
      }
      const Outcome outcome = search(video, target, first.passes());
      EXPECT_TRUE(outcome.met) << size;
      EXPECT_LE(static_cast<double>(outcome.last.figures.bytes), size);
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
  while (!first.add(encode(first.next()))) {
  }
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

TEST(TargetSearch, NoPassIsMadeWhoseBytesAreKnown) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Video video = random_video(random, i % 4 == 0);
    const Target target{Target::Kind::psnr_y, video.psnr_at_25 + random.below(100) * 0.05 - 2.5};
    TargetSearch search(settings_of(video), target);
    std::vector<PresetDecisions> made;
    for (bool done = false; !done;) {
      const PresetDecisions next = preset_decisions(search.next());
      const bool is_known = std::ranges::find(made, next) != made.end();
      made.push_back(next);
      done = search.add(video.encode(search.next()));
      EXPECT_TRUE(!is_known || done) << i;  // a pass is only repeated to make the stream
    }
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
    while (!first.add(video.encode(first.next()))) {
    }
    const Target target = draw();
    TargetSearch second(settings_of(video), target, first.passes());
    while (!second.add(video.encode(second.next()))) {
    }
    EXPECT_TRUE(second.met() || !search(video, target).met) << i;
  }
}

TEST(TargetSearch, AQualityBeyondTheFormatIsApproached) {
  const Video video;
  const Outcome best = search(video, {Target::Kind::psnr_y, 99});
  EXPECT_FALSE(best.met);
  EXPECT_EQ(best.last.qp, 50);
  EXPECT_EQ(best.last.lambda_scale, 0.05);
  const Outcome worst = search(video, {Target::Kind::psnr_y, 1});
  EXPECT_FALSE(worst.met);
  EXPECT_EQ(worst.last.qp, 1);
  EXPECT_EQ(worst.last.lambda_scale, 4);
  // Even the best quality takes less than this size. So the best quality is used, and the target is not met.
  const Outcome large = search(video, {Target::Kind::bytes, 1e12});
  EXPECT_FALSE(large.met);
  EXPECT_EQ(large.last.lambda_scale, 0.05);
}

TEST(TargetSearch, ASizeThatIsTooSmallIsALimit) {
  EXPECT_TRUE(expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [] { search({}, {Target::Kind::bytes, 1000}); }));
  EXPECT_TRUE(expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [] { search({.course = true}, {Target::Kind::bitrate, 1000}); }));
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
    while (!search.add(figures_of(search.next()))) {
    }
    EXPECT_TRUE(search.met()) << step;
  }
}

/// Here a video can only have 100 or 200 bytes. For a target of 150 bytes, the search must end with 100.
TEST(TargetSearch, AStaircaseEndsBelowASize) {
  const CodingSettings settings{.width = 16, .height = 16, .preset = Preset::reference};
  TargetSearch search(settings, {Target::Kind::bytes, 150});
  const auto bytes = [](const CodingSettings& s) { return PassFigures{.frames = 1, .bytes = s.qp < 20 ? 100U : 200U}; };
  while (!search.add(bytes(search.next()))) {
  }
  EXPECT_EQ(search.passes().back().figures.bytes, 100U);
  EXPECT_FALSE(search.met());
  EXPECT_LE(search.passes().size(), 17U);
}

/// A simulated video in GOPs of 25 frames. A coded frame never takes fewer than a certain number of bytes, however low
/// the quality is. So very small targets need repeats.
struct LongVideo {
  double loss = 1;  ///< PSNR that is lost if only every second frame is coded
  bool knows_keys = true;

  [[nodiscard]] static CodingSettings settings(Preset preset) {
    return {.width = 352, .height = 288, .preset = preset, .key_interval = 25};
  }
  [[nodiscard]] std::optional<std::uint64_t> key_bytes_of(const CodingSettings& s) const {
    return knows_keys ? std::optional(static_cast<std::uint64_t>(4 * (2000 + 8000 * std::exp2(0.5 * place_by_decisions(s))))) : std::nullopt;
  }
  [[nodiscard]] static std::uint64_t bytes_of(const CodingSettings& s) {
    const double place = place_by_decisions(s);
    const int coded = 24 / s.frame_interval;
    const double gop = 2000 + 8000 * std::exp2(0.5 * place) + coded * (2200 + 3000 * std::exp2(0.7 * place)) + 4 * (24 - coded);
    return static_cast<std::uint64_t>(4 * gop);
  }
  [[nodiscard]] PassFigures encode(const CodingSettings& s) const {
    const double psnr = 38 + 3 * place_by_decisions(s) - loss * std::log2(s.frame_interval);
    return {.frames = 100, .bytes = bytes_of(s), .psnr_y_db = psnr, .psnr_all_db = psnr, .key_bytes = key_bytes_of(s)};
  }
  [[nodiscard]] TargetSearch search(Preset preset, const Target& target, const std::vector<TargetPass>& known = {}) const {
    TargetSearch search(settings(preset), target, known);
    while (!search.add(encode(search.next()))) {
    }
    return search;
  }
  [[nodiscard]] static std::uint64_t least_bytes(Preset preset, int interval) {
    CodingSettings s = settings(preset);
    s.qp = least_qp(s);
    if (preset != Preset::reference) s.rate.lambda_scale = 4;
    s.frame_interval = interval;
    return bytes_of(s);
  }
};

TEST(TargetSearch, AnySizeFromKeyFramesAndRepeatsUpIsMet) {
  for (const auto& [preset, knows_keys] : {std::pair(Preset::reference, true), {Preset::fast, true}, {Preset::best, true}, {Preset::fast, false}}) {
    // Each dropped frame lowers PSNR much. So the search must not drop more frames than the target needs.
    const LongVideo video{.loss = 20, .knows_keys = knows_keys};
    const auto least = static_cast<double>(LongVideo::least_bytes(preset, 25));
    const auto most = static_cast<double>(LongVideo::least_bytes(preset, 1));
    for (int i = 0; i <= 40; ++i) {
      const double size = std::ceil(1.01 * least * std::pow(1.2 * most / least, i / 40.0));
      const TargetSearch search = video.search(preset, {Target::Kind::bytes, size});
      EXPECT_TRUE(search.met()) << size << ": " << search.passes().back().figures.bytes;
      const int interval = search.passes().back().frame_interval;
      EXPECT_TRUE(interval == 1 || static_cast<double>(LongVideo::least_bytes(preset, interval - 1)) > size) << size << ", one of " << interval;
      EXPECT_LE(search.passes().size(), 17U) << size;
      // A second search that knows the passes of the first needs at most four more.
      const TargetSearch again = video.search(preset, {Target::Kind::bytes, size}, search.passes());
      EXPECT_LE(again.passes().size(), search.passes().size() + 4) << size;
      EXPECT_TRUE(again.met());
    }
  }
}

TEST(TargetSearch, ASizeThatKeyFramesAndRepeatsExceedIsRefusedAfterTwoPasses) {
  for (const Preset preset : {Preset::reference, Preset::good}) {
    const auto size = static_cast<double>(LongVideo::least_bytes(preset, 25) - 1);
    TargetSearch search(LongVideo::settings(preset), {Target::Kind::bytes, size});
    ASSERT_FALSE(search.add(LongVideo().encode(search.next())));
    const auto error = expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [&] { search.add(LongVideo().encode(search.next())); });
    EXPECT_NE(error->message().find("key frames and repeats alone take"), std::string::npos) << error->message();
  }
}

TEST(TargetSearch, NoFramesAreDroppedIfThatIsRefused) {
  const auto size = static_cast<double>(LongVideo::least_bytes(Preset::good, 1) - 1);
  TargetSearch search(LongVideo::settings(Preset::good), {Target::Kind::bytes, size, false});
  ASSERT_FALSE(search.add(LongVideo().encode(search.next())));
  expect_error(ErrorKind::limit, "C63-TARGET-LIMIT", [&] {
    while (!search.add(LongVideo().encode(search.next()))) {
    }
  });
  EXPECT_LE(search.passes().size(), 4U);
  for (const TargetPass& pass : search.passes()) EXPECT_EQ(pass.frame_interval, 1);
}

TEST(TargetSearch, MoreFramesAreDroppedIfPicturesBecomeBetter) {
  const auto size = 0.9 * static_cast<double>(LongVideo::least_bytes(Preset::fast, 1));
  const TargetSearch moving = LongVideo{.loss = 20}.search(Preset::fast, {Target::Kind::bytes, size});
  const TargetSearch still = LongVideo{.loss = 0.1}.search(Preset::fast, {Target::Kind::bytes, size});
  EXPECT_EQ(moving.passes().back().frame_interval, 2);
  EXPECT_GE(still.passes().back().frame_interval, 4);
  EXPECT_GT(*still.passes().back().figures.psnr_y_db, *moving.passes().back().figures.psnr_y_db);
  EXPECT_TRUE(still.met());
}

TEST(TargetSearch, QualitiesDropNoFrames) {
  const TargetSearch search = LongVideo{.loss = 0}.search(Preset::fast, {Target::Kind::psnr_y, 20});
  for (const TargetPass& pass : search.passes()) EXPECT_EQ(pass.frame_interval, 1);
}

TEST(TargetSearch, ImpossibleTargetsAreWrongUsage) {
  for (const Target& target : {Target{Target::Kind::bytes, 0}, Target{Target::Kind::bitrate, -1}, Target{Target::Kind::psnr_y, 0},
                               Target{Target::Kind::ssim_y, 1}, Target{Target::Kind::ssim_y, 0},
                               Target{Target::Kind::psnr_all, std::nan("")}}) {
    expect_error(ErrorKind::usage, "C63-TARGET", [&] { TargetSearch({.width = 16, .height = 16}, target); });
  }
}

TEST(TargetSearch, TargetsAreDescribedInWords) {
  EXPECT_EQ(describe({Target::Kind::bytes, 2'000'000}), "a size of 2MB");
  EXPECT_EQ(describe({Target::Kind::bitrate, 812'500}), "a bit rate of 812.5 kb/s");
  EXPECT_EQ(describe({Target::Kind::psnr_all, 38.5}), "PSNR of all planes of 38.5 dB");
  EXPECT_EQ(describe({Target::Kind::ssim_y, 0.97}), "SSIM Y of 0.97");
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
