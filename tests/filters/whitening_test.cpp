// Tests shifts, weights and whitening. Estimated shifts must be near the true ones. The weights for a shift must
// reproduce polynomials. Whitening must follow its definition.
#include <algorithm>
#include <cmath>

#include "filters_test_support.h"

namespace c63 {
namespace {

/// Returns a picture of a smooth scene, taken by a camera that is shifted by (dx, dy) samples.
template <typename Sample>
Picture<Sample> scene(Size size, double dx, double dy) {
  Picture<Sample> picture(size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double u = x + dx, v = y + dy;
      const double value = 120 + 40 * std::sin(u * 0.21 + v * 0.08) + 35 * std::cos(v * 0.19 - u * 0.05) +
                           20 * std::sin(u * 0.11) * std::cos(v * 0.13);
      picture.view().at(x, y) = static_cast<Sample>(std::is_same_v<Sample, float> ? value : std::lround(value));
    }
  }
  return picture;
}

template <typename Sample>
BasicPlaneView<const Sample> const_view(const Picture<Sample>& picture) {
  return picture.view();
}

template <typename Sample>
class Shift : public ::testing::Test {};
using SampleTypes = ::testing::Types<std::uint8_t, float>;
TYPED_TEST_SUITE(Shift, SampleTypes);

TYPED_TEST(Shift, IsWithinAFiftiethOfTheTruth) {
  const auto reference = scene<TypeParam>({130, 97}, 0, 0);
  for (const FilterForm form : {FilterForm::serial, FilterForm::fast}) {
    const ShiftReference<TypeParam> prepared(const_view(reference), form);
    for (const double dx : {-0.5, -0.2, 0.0, 0.33, 0.5}) {
      for (const double dy : {-0.5, 0.0, 0.1, 0.5}) {
        const auto found = prepared.shift_of(const_view(scene<TypeParam>({130, 97}, dx, dy)));
        ASSERT_TRUE(found);
        EXPECT_NEAR(found->dx, dx, 0.02) << dx << ", " << dy;
        EXPECT_NEAR(found->dy, dy, 0.02) << dx << ", " << dy;
      }
    }
  }
}

TYPED_TEST(Shift, FormsAgreeOnAnything) {
  for (const Size size : {Size{3, 3}, Size{4, 3}, Size{33, 17}, Size{257, 31}, Size{5000, 4}}) {
    for (const Content content : kContents) {
      const Picture<TypeParam> reference(size, content, 1), frame(size, content, 2);
      const auto serial = ShiftReference<TypeParam>(const_view(reference), FilterForm::serial).sums_of(const_view(frame));
      const auto fast = ShiftReference<TypeParam>(const_view(reference), FilterForm::fast).sums_of(const_view(frame));
      const double tolerance = std::is_same_v<TypeParam, float> ? 1e-5 * (serial.u + serial.w + 1) : 0;
      EXPECT_NEAR(serial.p, fast.p, tolerance);
      EXPECT_NEAR(serial.q, fast.q, tolerance);
      EXPECT_EQ(serial.u, fast.u);
      EXPECT_EQ(serial.v, fast.v);
      EXPECT_EQ(serial.w, fast.w);
    }
  }
}

TYPED_TEST(Shift, MissingTextureIsReportedNotDividedBy) {
  Picture<TypeParam> flat({32, 32}, Content::largest), stripes({32, 32}), slanted({32, 32});
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      stripes.view().at(x, y) = static_cast<TypeParam>(x % 7 * 20);
      slanted.view().at(x, y) = static_cast<TypeParam>((x + y) % 7 * 20);
    }
  }
  for (const auto* picture : {&flat, &stripes, &slanted}) {
    EXPECT_TRUE(ShiftReference<TypeParam>(const_view(*picture)).textureless());
    EXPECT_EQ(estimate_shift(const_view(*picture), const_view(scene<TypeParam>({32, 32}, 0, 0))), std::nullopt);
  }
  EXPECT_FALSE(ShiftReference<TypeParam>(const_view(scene<TypeParam>({32, 32}, 0, 0))).textureless());
}

TYPED_TEST(Shift, ReportsWrongArguments) {
  const auto picture = scene<TypeParam>({32, 32}, 0, 0);
  const ShiftReference<TypeParam> reference(const_view(picture));
  EXPECT_EQ(error_id([&] { static_cast<void>(reference.shift_of(const_view(scene<TypeParam>({31, 32}, 0, 0)))); }), "C63-FILTER-SHAPE");
  EXPECT_EQ(error_id([] { ShiftReference<TypeParam>(const_view(scene<TypeParam>({2, 9}, 0, 0))); }), "C63-SHIFT-SIZE");
}

TEST(ShiftWeights, ReproduceEveryPolynomialUpToTheDegree) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> jitter(-0.5, 0.5);
  std::vector<FrameShift> history(20);
  for (auto& s : history) s = {jitter(random), jitter(random)};
  const FrameShift now{0.31, -0.22};
  const auto weights = shift_weights(now, history, 2, 0);
  const auto combine = [&](auto&& f) {
    double total = 0;
    for (std::size_t k = 0; k < history.size(); ++k) total += weights[k] * f(history[k]);
    return total - f(now);
  };
  EXPECT_NEAR(combine([](FrameShift) { return 1.0; }), 0, 1e-10);
  EXPECT_NEAR(combine([](FrameShift s) { return s.dx; }), 0, 1e-10);
  EXPECT_NEAR(combine([](FrameShift s) { return s.dy; }), 0, 1e-10);
  EXPECT_NEAR(combine([](FrameShift s) { return s.dx * s.dy; }), 0, 1e-10);
  EXPECT_NEAR(combine([](FrameShift s) { return s.dy * s.dy; }), 0, 1e-10);
}

TEST(ShiftWeights, ASingularSystemIsReported) {
  const std::vector<FrameShift> same(20, FrameShift{0.1, 0.2});
  EXPECT_EQ(error_id([&] { static_cast<void>(shift_weights({0, 0}, same, 2, 0)); }), "C63-WHITEN-SINGULAR");
  EXPECT_EQ(error_id([&] { static_cast<void>(shift_weights({0, 0}, std::span(same).first(3), 2, 0)); }),
            "C63-WHITEN-SINGULAR");
  EXPECT_EQ(shift_weights({0.1, 0.2}, same, 2, 1e-6).size(), 20U);
  EXPECT_EQ(shift_weights({0, 0}, std::span(same).first(1), 0, 0), std::vector<double>{1.0});
}

TEST(CorrelationWeights, SolveTheSystemOrSayThatTheyCannot) {
  const auto weights = correlation_weights(std::vector<double>{4, 1, 1, 3}, std::vector<double>{1, 2}, 0);
  EXPECT_NEAR(4 * weights[0] + weights[1], 1, 1e-12);
  EXPECT_NEAR(weights[0] + 3 * weights[1], 2, 1e-12);
  const std::vector<double> singular = {2, 2, 2, 2}, zero(4), b = {1, 1};
  EXPECT_EQ(error_id([&] { static_cast<void>(correlation_weights(singular, b, 0)); }), "C63-WHITEN-SINGULAR");
  EXPECT_EQ(error_id([&] { static_cast<void>(correlation_weights(zero, b, 1e-6)); }), "C63-WHITEN-SINGULAR");
  EXPECT_EQ(error_id([&] { static_cast<void>(correlation_weights(zero, std::span(b).first(1), 0)); }), "C63-FILTER-SHAPE");
}

template <typename Sample>
struct Sequence {
  Sequence(Size size, int count, Content content) {
    for (int k = 0; k < count; ++k) pictures.emplace_back(size, content, static_cast<unsigned>(k + 1));
  }
  std::vector<BasicPlaneView<const Sample>> views(std::size_t first = 0) const {
    std::vector<BasicPlaneView<const Sample>> all;
    for (std::size_t k = first; k < pictures.size(); ++k) all.push_back(const_view(pictures[k]));
    return all;
  }
  std::vector<Picture<Sample>> pictures;
};

template <typename Sample>
class Whitening : public ::testing::Test {};
TYPED_TEST_SUITE(Whitening, SampleTypes);

TYPED_TEST(Whitening, CorrelationsOfBothFormsAgree) {
  for (const Size size : {Size{1, 1}, Size{33, 17}, Size{1025, 5}, Size{130, 129}}) {
    for (const int n : {1, 2, 5, 20}) {
      for (const Content content : {Content::largest, Content::random}) {
        const Sequence<TypeParam> sequence(size, n + 1, content);
        const auto history = sequence.views(1);
        const auto count = static_cast<std::size_t>(n);
        std::vector<double> r(count * count, -1), b(count, -1), r2(r), b2(b);
        correlate<TypeParam>(const_view(sequence.pictures[0]), history, r, b, FilterForm::serial);
        correlate<TypeParam>(const_view(sequence.pictures[0]), history, r2, b2, FilterForm::fast);
        const double largest = *std::ranges::max_element(r);
        const double tolerance = std::is_same_v<TypeParam, float> ? 1e-6 * largest : 0;
        for (std::size_t i = 0; i < r.size(); ++i) ASSERT_NEAR(r[i], r2[i], tolerance);
        for (std::size_t i = 0; i < b.size(); ++i) ASSERT_NEAR(b[i], b2[i], tolerance);
      }
    }
  }
}

TYPED_TEST(Whitening, RejectionOfBothFormsAgreesToTheSample) {
  for (const Size size : {Size{1, 1}, Size{33, 17}, Size{257, 3}}) {
    for (const int n : {1, 2, 3, 5, 20, 64}) {
      const Sequence<TypeParam> sequence(size, n, Content::random);
      Sequence<TypeParam> expected(size, n, Content::zeros), got(size, n, Content::zeros);
      const auto history = sequence.views();
      std::vector<BasicPlaneView<TypeParam>> expected_views, got_views;
      for (auto& p : expected.pictures) expected_views.push_back(p.view());
      for (auto& p : got.pictures) got_views.push_back(p.view());
      reject_outliers<TypeParam>(history, 1.2, expected_views, FilterForm::serial);
      reject_outliers<TypeParam>(history, 1.2, got_views, FilterForm::fast);
      for (int k = 0; k < n; ++k) {
        const auto at = static_cast<std::size_t>(k);
        ASSERT_EQ(expected.pictures[at].samples, got.pictures[at].samples) << n << " frames";
      }
    }
  }
}

TYPED_TEST(Whitening, RejectionTakesAnObjectOutAndLeavesTheRest) {
  Sequence<TypeParam> sequence({8, 8}, 20, Content::zeros);
  for (std::size_t k = 0; k < 20; ++k) {
    for (auto& sample : sequence.pictures[k].samples) sample = static_cast<TypeParam>(50 + k % 3);
  }
  sequence.pictures[4].view().at(3, 2) = 90;
  Sequence<TypeParam> out({8, 8}, 20, Content::zeros);
  std::vector<BasicPlaneView<TypeParam>> views;
  for (auto& p : out.pictures) views.push_back(p.view());
  reject_outliers<TypeParam>(sequence.views(), 5, views);
  EXPECT_EQ(out.pictures[4].view().at(3, 2), 51);
  EXPECT_EQ(out.pictures[4].view().at(4, 2), sequence.pictures[4].view().at(4, 2));
  EXPECT_EQ(out.pictures[5].view().at(3, 2), sequence.pictures[5].view().at(3, 2));
}

TYPED_TEST(Whitening, BothFormsAgreeForBothMethods) {
  const Sequence<TypeParam> sequence({67, 41}, 21, Content::random);
  const ShiftReference<TypeParam> reference(const_view(sequence.pictures[0]));
  for (const auto method : {WhiteningMethod::shift, WhiteningMethod::correlation}) {
    for (const bool reject : {false, true}) {
      WhiteningSettings settings;
      settings.method = method;
      if (reject) settings.reject = 1.5;
      Picture<float> expected({67, 41}), got({67, 41});
      whiten<TypeParam>(reference, const_view(sequence.pictures[0]), sequence.views(1), settings, expected.view(),
                        FilterForm::serial);
      whiten<TypeParam>(reference, const_view(sequence.pictures[0]), sequence.views(1), settings, got.view(),
                        FilterForm::fast);
      for (std::size_t i = 0; i < got.samples.size(); ++i) ASSERT_NEAR(expected.samples[i], got.samples[i], 0.01);
    }
  }
}

TYPED_TEST(Whitening, SequencesAreWhitenedFrameByFrame) {
  WhiteningSettings settings;
  settings.memory = 8;
  settings.degree = 1;
  Whitener<TypeParam> whitener(64, 48, settings);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> jitter(-0.4, 0.4);
  Picture<float> out({64, 48});
  int written = 0;
  for (int frame = 0; frame < 12; ++frame) {
    const double dx = frame == 0 ? 0 : jitter(random), dy = frame == 0 ? 0 : jitter(random);
    const bool whitened = whitener.push(const_view(scene<TypeParam>({64, 48}, dx, dy)), out.view());
    EXPECT_EQ(whitened, frame >= 8);
    EXPECT_NEAR(whitener.last_shift()->dx, dx, 0.03);
    if (!whitened) continue;
    ++written;
    double energy = 0;
    for (int y = 0; y < 48; ++y) {
      for (int x = 0; x < 64; ++x) energy += out.view().at(x, y) * out.view().at(x, y);
    }
    EXPECT_LT(std::sqrt(energy / (64 * 48)), 2.0) << "of a scene whose samples vary by 40";
  }
  EXPECT_EQ(written, 4);
}

TYPED_TEST(Whitening, ReportsWrongArguments) {
  const Sequence<TypeParam> sequence({16, 16}, 6, Content::random);
  const ShiftReference<TypeParam> reference(const_view(sequence.pictures[0]));
  const Picture<TypeParam> flat({16, 16}, Content::largest);
  const ShiftReference<TypeParam> textureless(const_view(flat));
  Picture<float> out({16, 16});
  WhiteningSettings settings;
  const auto run = [&](const ShiftReference<TypeParam>& against) {
    return error_id([&] {
      whiten<TypeParam>(against, const_view(sequence.pictures[0]), sequence.views(1), settings, out.view());
    });
  };
  EXPECT_EQ(run(reference), "C63-WHITEN-MEMORY") << "more history than frames";
  settings.memory = 5;
  settings.degree = 1;
  EXPECT_EQ(run(reference), "");
  EXPECT_EQ(run(textureless), "C63-SHIFT-TEXTURELESS");
  settings.method = WhiteningMethod::correlation;
  EXPECT_EQ(run(textureless), "");
  settings.degree = 5;
  EXPECT_EQ(run(reference), "C63-WHITEN-SETTING");
  settings.degree = 2;
  settings.reject = -1;
  EXPECT_EQ(run(reference), "C63-WHITEN-SETTING");

  settings = {};
  Whitener<TypeParam> whitener(16, 16, settings);
  EXPECT_EQ(error_id([&] { whitener.push(const_view(flat), out.view()); }), "C63-SHIFT-TEXTURELESS");
  const Picture<TypeParam> larger({17, 16}, Content::random);
  EXPECT_EQ(error_id([&] { whitener.push(const_view(larger), out.view()); }), "C63-FRAME-SIZE") << "changing size";
  settings.memory = 65;
  EXPECT_EQ(error_id([&] { Whitener<TypeParam>(16, 16, settings); }), "C63-WHITEN-SETTING");
}

}  // namespace
}  // namespace c63
