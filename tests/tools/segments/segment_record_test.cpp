// Tests in which cases a later run uses a segment that is already encoded, instead of encoding it again.

#include <gtest/gtest.h>

#include <fstream>

#include "segments/segment_record.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

class FoundSegment : public ::testing::Test {
 protected:
  void SetUp() override {
    video_.settings = {{"qp", 25}};
    video_.plan.frames = 6;
    std::ofstream(stream_) << "";
  }

  /// Writes the record (the .json file) of a segment that was encoded with these measurements.
  void write(const MeasurementSettings& measured) {
    EncoderSettings settings;
    settings.measurement = measured;
    SegmentRecorder recorder(video_, segment_);
    for (std::int64_t i = 0; i < segment_.frames; ++i) {
      recorder.add({.index = i, .key = i == 0, .bytes = {}, .statistics = {}, .reconstruction = {}, .prediction = {}, .motion = {}},
                   settings);
    }
    write_record(stream_, recorder.finish(), Durability::process);
  }
  [[nodiscard]] bool is_found(const MeasurementSettings& wanted) {
    return find_whole_segment(stream_, video_, segment_, wanted, reason_).has_value();
  }

  test::TemporaryFolder folder_;
  std::string stream_ = folder_.file("segment.c63");
  SegmentedVideo video_;
  Segment segment_{.number = 1, .of = 2, .first = 0, .frames = 3};
  std::string reason_;
};

TEST_F(FoundSegment, HasTheMeasurementsThatAreWanted) {
  constexpr MeasurementSettings kNothing{.psnr = false};
  constexpr MeasurementSettings kPsnr{.psnr = true};
  constexpr MeasurementSettings kBoth{.psnr = true, .ssim = true};
  write(kNothing);
  EXPECT_TRUE(is_found(kNothing));
  EXPECT_FALSE(is_found(kPsnr));
  EXPECT_EQ(reason_, "its quality was not measured");
  write(kPsnr);
  EXPECT_TRUE(is_found(kPsnr));
  EXPECT_FALSE(is_found(kBoth));
  write(kBoth);
  EXPECT_TRUE(is_found(kBoth));
  EXPECT_TRUE(is_found(kNothing));
}

TEST_F(FoundSegment, OfOtherSettingsOrAnotherPlaceIsNotUsed) {
  constexpr MeasurementSettings kPsnr{.psnr = true};
  write(kPsnr);
  video_.settings["qp"] = 26;
  EXPECT_FALSE(is_found(kPsnr));
  video_.settings["qp"] = 25;
  segment_.frames = 4;
  EXPECT_FALSE(is_found(kPsnr));
  segment_.frames = 3;
  std::ofstream(stream_) << "x";
  EXPECT_FALSE(is_found(kPsnr));
}

}  // namespace
}  // namespace c63::tools
