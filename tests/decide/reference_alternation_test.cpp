// Which frames keep their reference, by the sizes of earlier frames.

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

/// The bits of a frame above the least; nullopt: it is a repeat.
using Taken = std::function<std::int64_t(int frame, ReferenceAlternation::Choice choice)>;

/// The frames of a GOP: s keeps its reference (stays), r is replaced, . is neither.
std::string choices_of(const Taken& taken) {
  ReferenceAlternation alternation(kMcus);
  std::vector<ReferenceAlternation::Choice> choices;
  std::string text;
  for (int frame = 0; frame < kFrames; ++frame) {
    if (const int observed = frame - ReferenceAlternation::kLag; observed >= 0) {
      const std::int64_t bits = taken(observed, choices[static_cast<std::size_t>(observed)]);
      alternation.observe(bits == 0, bits == 0 ? 32 : kLeast + bits);
    }
    choices.push_back(alternation.next());
    EXPECT_FALSE(choices.back().stays && choices.back().is_replaced);
    text += choices.back().stays ? 's' : choices.back().is_replaced ? 'r' : '.';
  }
  return text;
}

Taken with_ratio(std::int64_t replaced, std::int64_t staying) {
  return [=](int, ReferenceAlternation::Choice choice) { return choice.stays ? staying : replaced; };
}

TEST(ReferenceAlternation, OneTrialThenEverySecondFrameIfItPays) {
  const std::string choices = choices_of(with_ratio(10000, 13999));
  EXPECT_EQ(choices.substr(0, 16), "....rs..rsrsrsrs");
  for (std::size_t i = 8; i < kFrames; ++i) EXPECT_EQ(choices[i], i % 2 == 0 ? 'r' : 's') << i;
}

TEST(ReferenceAlternation, FewTrialsIfItDoesNotPay) {
  const std::string choices = choices_of(with_ratio(10000, 14000));
  std::vector<std::size_t> trials;
  for (std::size_t at = choices.find('r'); at != std::string::npos; at = choices.find('r', at + 1)) {
    EXPECT_EQ(choices[at + 1], 's');
    trials.push_back(at);
  }
  // The outcome of a frame is known four frames later. The waits are 16, 32, 64 and 64.
  EXPECT_EQ(trials, (std::vector<std::size_t>{4, 24, 60, 128, 196}));
}

TEST(ReferenceAlternation, EndsIfFramesThatStayTakeTwiceAsMuch) {
  const auto changing_at = [](int frame, std::int64_t before, std::int64_t behind) {
    return [=](int number, ReferenceAlternation::Choice choice) {
      return choice.stays ? (number < frame ? before : behind) : std::int64_t{10000};
    };
  };
  EXPECT_EQ(choices_of(changing_at(51, 13000, 19999)), choices_of(with_ratio(10000, 13000)));
  const std::string ended = choices_of(changing_at(51, 13000, 20000));
  // Frame 51 stays, which is known when 54 is planned. 55 was planned to stay by earlier knowledge.
  EXPECT_EQ(ended.substr(46, 26), "rsrsrsrs" + std::string(18, '.'));
}

TEST(ReferenceAlternation, NothingIsSavedIfFramesAreTiny) {
  EXPECT_EQ(choices_of(with_ratio(6 * kMcus, 1)), std::string(kFrames, '.'));
  EXPECT_NE(choices_of(with_ratio(6 * kMcus + 1, 1)).find("rsr"), std::string::npos);
}

TEST(ReferenceAlternation, PicturesThatComeTwiceBecomeRepeats) {
  EXPECT_EQ(choices_of([](int frame, ReferenceAlternation::Choice) { return frame == 0 ? 10000 : 0; }), std::string(kFrames, '.'));
  // Every third frame repeats the previous one, unless it stays or is replaced. Then it is small.
  const std::string choices = choices_of([](int frame, ReferenceAlternation::Choice choice) -> std::int64_t {
    if (frame % 3 == 0 && frame > 0) return choice.stays || choice.is_replaced ? 900 : 0;
    return choice.stays ? 40000 : 10000;
  });
  EXPECT_EQ(choices.find("rsr"), std::string::npos);
  EXPECT_LE(std::ranges::count(choices, 's'), 6);
}

}  // namespace
}  // namespace c63::test::reference_alternation_test
