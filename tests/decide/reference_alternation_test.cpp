// Tests how ReferenceAlternation chooses the frames of a GOP that "stay" (do not advance the reference). It decides
// from the bits of earlier frames.

#include "decide/reference_alternation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "decide/repeat_frame.h"

namespace c63::test::reference_alternation_test {
namespace {

constexpr std::int64_t kMcus = 100;
constexpr std::int64_t kLeast = kLeastMcuBits * kMcus;
constexpr int kFrames = 200;

/// A simulated video: returns the bits that a frame takes above kLeast, the fewest possible bits of a coded frame. 0
/// means that the frame is a repeat.
using Taken = std::function<std::int64_t(int frame, ReferenceAlternation::Choice choice)>;

/// Returns the choices for the frames of a GOP, one letter for each frame. 's': the frame stays. 't': the next frame
/// stays, as a trial. 'r': the next frame stays and replaces this one. '.': none of these.
std::string choices_of(const Taken& taken, int most_frames = kFrames) {
  ReferenceAlternation alternation(kMcus, most_frames);
  std::vector<ReferenceAlternation::Choice> choices;
  std::string text;
  for (int frame = 0; frame < most_frames; ++frame) {
    if (const int observed = frame - ReferenceAlternation::kLag; observed >= 0) {
      const std::int64_t bits = taken(observed, choices[static_cast<std::size_t>(observed)]);
      alternation.observe(bits == 0, bits == 0 ? 32 : kLeast + bits);
    }
    const ReferenceAlternation::Choice choice = alternation.next();
    EXPECT_FALSE(choice.stays && choice.precedes_staying);
    EXPECT_TRUE(choice.precedes_staying || !choice.is_replaced);
    choices.push_back(choice);
    text += choice.stays ? 's' : choice.is_replaced ? 'r' : choice.precedes_staying ? 't' : '.';
  }
  return text;
}

Taken with_bits(std::int64_t advancing, std::int64_t staying) {
  return [=](int, ReferenceAlternation::Choice choice) { return choice.stays ? staying : advancing; };
}

std::vector<std::size_t> places_of(char what, const std::string& choices) {
  std::vector<std::size_t> places;
  for (std::size_t at = choices.find(what); at != std::string::npos; at = choices.find(what, at + 1)) places.push_back(at);
  return places;
}

TEST(ReferenceAlternation, AfterATrialThatPaysEverySecondFrameStays) {
  const std::string choices = choices_of(with_bits(10000, 9999));
  EXPECT_EQ(choices.substr(0, 16), "....ts..rsrsrsrs");
  for (std::size_t i = 8; i < kFrames; ++i) EXPECT_EQ(choices[i], i % 2 == 0 ? 'r' : 's') << i;
}

TEST(ReferenceAlternation, TrialsAreFewIfTheyDoNotPay) {
  const std::string choices = choices_of(with_bits(10000, 10000));
  // The first trial is judged when its second frame is observed, four frames after its first was planned. A later trial
  // is judged two frames later. Then follows a pause of 16, 32 and at last 64 frames. So trials begin at 4, 4 + 4 + 16,
  // 24 + 6 + 32 and 62 + 6 + 64.
  EXPECT_EQ(places_of('t', choices), (std::vector<std::size_t>{4, 24, 62, 132}));
  EXPECT_TRUE(places_of('r', choices).empty());
}

TEST(ReferenceAlternation, ALaterTrialMustSaveATwelfth) {
  const auto from_second_trial = [](std::int64_t staying) {
    return [=](int frame, ReferenceAlternation::Choice choice) { return !choice.stays ? 12000 : frame < 20 ? 12000 : staying; };
  };
  EXPECT_EQ(choices_of(from_second_trial(11000)).find('r'), std::string::npos);
  EXPECT_EQ(choices_of(from_second_trial(10999)).find('r'), 30U);
}

TEST(ReferenceAlternation, OnlyFramesOfOneParityAreCompared) {
  // Every second frame takes few bits, because it is the previous picture moved by whole samples. Trials fall on these
  // frames. A frame that stays (does not advance the reference) takes more bits than such a frame takes if it advances,
  // although fewer than the average frame. So staying saves nothing.
  const auto alternating = [](int frame, ReferenceAlternation::Choice choice) -> std::int64_t {
    return choice.stays ? 8000 : frame % 2 == 0 ? 12000 : 6000;
  };
  EXPECT_EQ(choices_of(alternating).find('r'), std::string::npos);
}

TEST(ReferenceAlternation, FallingBitsAreNoGain) {
  // Frames take fewer and fewer bits. So a later trial must be compared with frames before and after it. Compared only
  // with earlier frames, every trial would seem to save bits.
  const auto falling = [](int frame, ReferenceAlternation::Choice choice) -> std::int64_t {
    return frame < 20 ? (choice.stays ? 90000 : 50000) : std::max(5000, 50000 - 2000 * (frame - 20));
  };
  EXPECT_EQ(choices_of(falling).find('r'), std::string::npos);
}

TEST(ReferenceAlternation, EndsWhenFramesThatStayTakeMoreThanAdvancingOnesWould) {
  // A frame that is replaced takes 7000 bits, another advancing frame 10,000. From frame `frame` on, the bits of a
  // frame that stays change from `before` to `after`.
  const auto changing_at = [](int frame, std::int64_t before, std::int64_t after) {
    return [=](int number, ReferenceAlternation::Choice choice) -> std::int64_t {
      return choice.stays ? (number < frame ? before : after) : choice.is_replaced ? 7000 : 10000;
    };
  };
  EXPECT_EQ(choices_of(changing_at(51, 9000, 11400)), choices_of(changing_at(kFrames, 9000, 0)));
  const std::string ended = choices_of(changing_at(51, 9000, 13000));
  // Frames 51 and 53 together take so many bits that alternation ends. The planner knows this when it plans frame 56.
  EXPECT_EQ(ended.substr(46, 28), "rsrsrsrsrs" + std::string(16, '.') + "ts");
}

TEST(ReferenceAlternation, NothingIsSavedIfFramesTakeNextToNothing) {
  EXPECT_EQ(choices_of(with_bits(16 * kMcus, 1)), std::string(kFrames, '.'));
  EXPECT_NE(choices_of(with_bits(17 * kMcus, 1)).find("rsr"), std::string::npos);
}

TEST(ReferenceAlternation, AGopMustBeAbleToWinATrialBack) {
  EXPECT_EQ(choices_of(with_bits(16000, 15000), 19), std::string(19, '.'));
  EXPECT_EQ(choices_of(with_bits(16000, 15000), 20), "....ts..rsrsrsrsrsrs");
}

/// A trial forces two frames to be coded that could have been repeats, so it costs at least their smallest number of
/// bits. Alternation saves only bits above this number. So no trial is made unless the frames have enough of these bits
/// to win back the cost.
TEST(ReferenceAlternation, FramesOfFewBitsAreNotTried) {
  EXPECT_EQ(choices_of(with_bits(2500, 2499), 60).find('s'), std::string::npos);
  EXPECT_EQ(choices_of(with_bits(2600, 2599), 60).find('s'), 5U);
}

TEST(ReferenceAlternation, PicturesThatComeTwiceAreLeftToRepeats) {
  EXPECT_EQ(choices_of([](int frame, ReferenceAlternation::Choice) { return frame == 0 ? 10000 : 0; }), std::string(kFrames, '.'));
  // Every third frame shows the previous picture again, so it is a repeat. In a trial it must be coded, with a few
  // bits.
  const std::string choices = choices_of([](int frame, ReferenceAlternation::Choice choice) -> std::int64_t {
    if (frame % 3 == 0 && frame > 0) return choice.stays || choice.precedes_staying ? 900 : 0;
    return choice.stays ? 40000 : 10000;
  });
  EXPECT_LE(std::ranges::count(choices, 't'), 1);
  EXPECT_EQ(choices.find('r'), std::string::npos);
}

TEST(ReferenceAlternation, NoTrialAfterAChangeOfAStillPicture) {
  const auto still = [](int frame, ReferenceAlternation::Choice choice) -> std::int64_t {
    return frame == 0 || frame % 20 == 18 ? 10000 : choice.stays || choice.precedes_staying ? 700 : 0;
  };
  EXPECT_EQ(choices_of(still), std::string(kFrames, '.'));
}

}  // namespace
}  // namespace c63::test::reference_alternation_test
