// Encoding must give the course encoder's streams, and decoding the course decoder's pictures, for every number of
// threads and lanes.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "c63/frame_source.h"
#include "support/coding.h"
#include "support/golden_videos.h"
#include "support/hash.h"
#include "support/shared_data.h"

namespace c63::test::golden_test {
namespace {

class GoldenVector : public testing::TestWithParam<GoldenVideo> {};

TEST_P(GoldenVector, EncodesToTheCourseEncodersBytes) {
  const GoldenVideo v = GetParam();
  const Bytes video = frames_of(v);
  for (const auto kind : {VideoSource::Kind::file, VideoSource::Kind::pipe}) {
    for (const int threads : {1, 2, 5}) {
      for (int lanes = 1; lanes <= 7; lanes += v.frames > 100 ? 1 : 6) {
        EncoderSettings settings{.coding = {.width = v.width, .height = v.height}};
        settings.execution.threads = threads;
        settings.execution.lanes = lanes;
        VideoSource source(video, v.width, v.height, kind);
        const Encoded encoded = without_error(encode_source(source, settings));
        ASSERT_EQ(encoded.stream().size(), v.stream_bytes);
        ASSERT_EQ(md5(encoded.stream()), v.stream_md5) << threads << " threads, " << lanes << " lanes";
        ASSERT_EQ(encoded.summary.frames, v.frames);
        ASSERT_EQ(encoded.summary.bytes, v.stream_bytes);
        ASSERT_EQ(encoded.summary.key_frames, (v.frames + 99) / 100);
      }
    }
  }
}

TEST_P(GoldenVector, DecodesToTheCourseDecodersPictures) {
  const GoldenVideo v = GetParam();
  const Bytes stream = encode(frames_of(v), {.coding = {.width = v.width, .height = v.height}});
  for (const int threads : {1, 2, 5}) {
    for (const std::size_t piece : {std::size_t{SIZE_MAX}, std::size_t{499}}) {
      StreamSource source(stream, piece);
      const Decoded decoded = without_error(decode_stream(source, {.execution = {.threads = threads}}));
      ASSERT_EQ(md5(decoded.pictures()), v.decoded_md5) << threads << " threads";
      ASSERT_EQ(decoded.summary.bytes, v.stream_bytes);
      ASSERT_EQ(decoded.summary.width, v.width);
      ASSERT_EQ(decoded.summary.height, v.height);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenVector, testing::ValuesIn(kGoldenVideos),
                         [](const auto& tested) { return name(tested.param); });

/// Reads the list of the shared test data. Returns the SHA-256 sum of each file, by file name.
std::map<std::string, std::string> read_manifest() {
  std::ifstream file(shared_path("golden/manifest.tsv"));
  std::map<std::string, std::string> sums;
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    std::string name, bytes, sum;
    columns >> name >> bytes >> sum;
    sums[name] = sum;
  }
  return sums;
}

struct Sequence {
  const char* name;
  const char* file;
  int width;
  int height;
};

void PrintTo(const Sequence& sequence, std::ostream* out) { *out << sequence.name; }

class GoldenSequence : public testing::TestWithParam<Sequence> {
 protected:
  /// Returns the frames of the sequence. FFmpeg decodes compressed files. Without FFmpeg, the result is empty for
  /// these.
  Bytes video() const {
    const Sequence s = GetParam();
    const auto path = shared_path(std::string("sequences/") + s.file);
    if (path.extension() == ".yuv") return read_bytes(path);
    try {
      const auto source = open_frame_source({.path = path.string(), .format = SourceFormat::av});
      Bytes all;
      Bytes frame(frame_bytes(s.width, s.height));
      for (std::int64_t i = 0; source->read(i, frame); ++i) all.insert(all.end(), frame.begin(), frame.end());
      return all;
    } catch (const Error& error) {
      if (error.id() == "C63-NO-FFMPEG") return {};
      throw;
    }
  }
};

TEST_P(GoldenSequence, EncodesToTheCourseEncodersBytes) {
  const Sequence s = GetParam();
  C63_NEEDS_SHARED(std::string("sequences/") + s.file);
  C63_NEEDS_SHARED("golden/manifest.tsv");
  auto sums = read_manifest();
  const Bytes frames = video();
  if (frames.empty()) GTEST_SKIP() << "this build has no FFmpeg to read " << s.file << " with";
  if (sums.contains(std::string(s.name) + ".yuv")) {
    ASSERT_EQ(sha256(frames), sums[std::string(s.name) + ".yuv"]);
  }
  for (const auto kind : {VideoSource::Kind::file, VideoSource::Kind::pipe}) {
#if defined(C63_SANITIZED)
    if (kind == VideoSource::Kind::pipe && frames.size() > (8U << 20))
      continue;  // would take minutes; the small vectors test pipes, too
#endif
    VideoSource source(frames, s.width, s.height, kind);
    const Encoded encoded = without_error(encode_source(source, {.coding = {.width = s.width, .height = s.height}}));
    ASSERT_EQ(sha256(encoded.stream()), sums[std::string(s.name) + ".c63"]);
  }
}

TEST_P(GoldenSequence, DecodesToTheCourseDecodersPicturesAndPredictions) {
  const Sequence s = GetParam();
  const std::string stream = std::string("golden/") + s.name + ".c63";
  C63_NEEDS_SHARED(stream);
  C63_NEEDS_SHARED("golden/manifest.tsv");
  auto sums = read_manifest();
  const Decoded decoded = without_error(decode_stream(read_bytes(shared_path(stream)), {.keep_prediction = true}));
  EXPECT_EQ(sha256(decoded.pictures()), sums[std::string(s.name) + ".dec.yuv"]);
  Bytes predictions;
  for (const DecodedFrame& frame : decoded.frames) {
    predictions.insert(predictions.end(), frame.prediction.begin(), frame.prediction.end());
  }
  EXPECT_EQ(sha256(predictions), sums[std::string(s.name) + ".pred.yuv"]);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenSequence,
                         testing::Values(Sequence{"foreman_352x288", "foreman_352x288.264", 352, 288},
                                         Sequence{"mobile_352x288", "mobile_352x288.264", 352, 288},
                                         Sequence{"people_320x192", "people_320x192.yuv", 320, 192},
                                         Sequence{"static_152x100", "static_152x100.yuv", 152, 100}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace c63::test::golden_test
