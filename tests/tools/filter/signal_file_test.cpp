// Tests files with signals. Values that are written and read must stay exact to the last bit. Every kind of damage must
// give an error.
#include "filter/signal_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "c63/error.h"
#include "support/expect_error.h"
#include "support/folder_test.h"

namespace c63 {
namespace {

std::string id_of(std::string_view text) {
  const auto error = test::error_of([&] { static_cast<void>(parse_signal_text(text, "test")); });
  return !error ? "" : error->id() + (error->place().offset ? "@" + std::to_string(*error->place().offset) : "");
}

std::string id_of_file(const std::string& path) {
  return test::error_id([&] { static_cast<void>(read_signal(path)); });
}

std::vector<double> odd_values() {
  std::vector<double> values = {0.0, -0.0, 1.0 / 3, 1e308, -1e-308, std::numeric_limits<double>::denorm_min(), 123456789};
  std::mt19937_64 random(1);
  while (values.size() < 200'003) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

TEST(SignalText, ComesBackToTheLastBit) {
  const auto values = odd_values();
  std::string text;
  for (const auto& piece : print_signal_text(values)) text += piece;
  const auto back = parse_signal_text(text, "test");
  ASSERT_EQ(back.size(), values.size());
  EXPECT_EQ(std::memcmp(back.data(), values.data(), values.size() * sizeof(double)), 0);
}

TEST(SignalText, TextAndValuesTogetherKeepTheLimitOfMemory) {
  const auto id_within = [](std::size_t bytes) {  // two bytes of text and eight of values
    return test::error_id([&] { static_cast<void>(parse_signal_text("1\n", "test", {}, bytes)); });
  };
  EXPECT_EQ(id_within(10), "");
  EXPECT_EQ(id_within(9), "C63-MAX-MEMORY");
}

TEST(SignalText, BlanksSignsAndCarriageReturnsAreTaken) {
  EXPECT_EQ(parse_signal_text("\xEF\xBB\xBF 1.5\t\r\n+2\n-3e2\n", "test"), (std::vector<double>{1.5, 2, -300}));
}

TEST(SignalText, JunkIsNamedWithItsLine) {
  EXPECT_EQ(id_of("1\n2\nthree\n4\n"), "C63-SIGNAL-NUMBER@4");
  EXPECT_EQ(id_of("1\n2 3\n"), "C63-SIGNAL-NUMBER@2");
  EXPECT_EQ(id_of("1\n\n2\n"), "C63-SIGNAL-NUMBER@2");
  EXPECT_EQ(id_of("1\n0x10\n"), "C63-SIGNAL-NUMBER@2");
  EXPECT_EQ(id_of("+-1\n"), "C63-SIGNAL-NUMBER@0");
  EXPECT_EQ(id_of("1e999\n"), "C63-SIGNAL-NUMBER@0");
  EXPECT_EQ(id_of(std::string("1\n\0\n", 4)), "C63-SIGNAL-NUMBER@2");
  std::string long_text;
  for (int i = 0; i < 300'000; ++i) long_text += "1.25\n";
  const std::size_t at = long_text.size();
  long_text += "x\n" + long_text;
  EXPECT_EQ(id_of(long_text), "C63-SIGNAL-NUMBER@" + std::to_string(at));
}

TEST(SignalText, InfinityAndNanAreRefused) {
  for (const char* text : {"inf\n", "-inf\n", "nan\n", "NaN\n", "infinity\n"}) {
    EXPECT_EQ(id_of(text), "C63-SIGNAL-FINITE@0") << text;
  }
}

TEST(SignalText, AnEmptyFileIsNotASignal) { EXPECT_EQ(id_of(""), "C63-SIGNAL-EMPTY"); }

TEST(SignalText, AnUnfinishedLastLineIsTakenAndWarnedAbout) {
  std::string warning;
  EXPECT_EQ(parse_signal_text("1\n2.5", "test", [&](const std::string& text) { warning = text; }),
            (std::vector<double>{1, 2.5}));
  EXPECT_NE(warning.find("line 2, the last one"), std::string::npos) << warning;
  EXPECT_EQ(id_of("1\n2."), "");
  EXPECT_EQ(id_of("1\n2e"), "C63-SIGNAL-NUMBER@2");
}

using SignalFile = test::FolderTest;

TEST_F(SignalFile, EveryFormatComesBack) {
  const std::vector<double> small = {0, 1, 255, 7};
  for (const SignalFormat format : values_of<SignalFormat>()) {
    const std::string file = path(format == SignalFormat::automatic ? "x.txt" : "x." + std::string(name(format)));
    write_signal(file, small);
    EXPECT_EQ(read_signal(file), small) << file;
  }
  const auto values = odd_values();
  for (const char* file : {"y.txt", "y.npy", "y.f64"}) {
    write_signal(path(file), values);
    EXPECT_EQ(read_signal(path(file)), values) << file;
  }
}

TEST_F(SignalFile, ValuesThatDoNotFitAreAnError) {
  for (const double value : {-1.0, 256.0, 1.5}) {
    const std::vector<double> values = {value};
    EXPECT_EQ(test::error_id([&] { write_signal(path("z.u8"), values); }), "C63-SIGNAL-RANGE") << value;
  }
}

TEST_F(SignalFile, BrokenFilesAreNamed) {
  EXPECT_EQ(id_of_file(path("missing.txt")), "C63-INPUT-OPEN");
  EXPECT_EQ(id_of_file(write_file("b.f64", "1234567")), "C63-SIGNAL-SIZE");
  EXPECT_EQ(id_of_file(write_file("b.f64", "")), "C63-SIGNAL-EMPTY");
  EXPECT_EQ(id_of_file(write_file("b.f32", std::string_view("\x00\x00\x80\x7f", 4))), "C63-SIGNAL-FINITE");

  write_signal(path("good.npy"), std::vector<double>{1, 2, 3});
  const std::string good = test::read_file(path("good.npy"));
  EXPECT_EQ(good.size() % 8, 0U);
  const auto broken = [&](const std::string& bytes) { return id_of_file(write_file("b.npy", bytes)); };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    return bytes.replace(bytes.find(from), from.size(), to);
  };
  EXPECT_EQ(broken(good), "");
  EXPECT_EQ(broken("short"), "C63-NPY-MAGIC");
  EXPECT_EQ(broken(good.substr(0, 40)), "C63-NPY-HEADER");
  EXPECT_EQ(broken(replaced("'<f8'", "'>f8'")), "C63-NPY-TYPE");
  EXPECT_EQ(broken(replaced("(3,)", "(4,)")), "C63-NPY-SHAPE");
  EXPECT_EQ(broken(replaced("(3,)", "(,) ")), "C63-NPY-SHAPE");
  EXPECT_EQ(broken(replaced("(3,), }", "(3,1),}")), "C63-NPY-SHAPE");
  EXPECT_EQ(broken(good.substr(0, good.size() - 3)), "C63-SIGNAL-SIZE");
  EXPECT_EQ(broken(good.substr(0, good.size() - 8)), "C63-NPY-SHAPE");
}

}  // namespace
}  // namespace c63
