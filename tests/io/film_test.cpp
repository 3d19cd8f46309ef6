#include "c63/frame_source.h"
#include "c63/media.h"
#include "common/digest.h"
#include "io_test_support.h"
#include "support/host_film_device.h"
#include "support/shared_data.h"
#include "support/shell.h"

// Films as encoders write them, and damaged ones. The ffmpeg program makes most of them from its test pictures. More kinds of
// films, whose frames must be ffmpeg's own: `tools/attack films`.

#ifdef C63_HAVE_FFMPEG

namespace c63 {
namespace {

std::string shared_film(const std::string& name) { return test::shared_path("films/" + name).string(); }

/// What reading a film gives.
struct Outcome {
  std::string frames;       ///< all samples
  std::int64_t count = 0;
  std::string error;        ///< id; empty: none
  VideoFormat format;
  bool full_range = false;

  bool operator==(const Outcome& other) const {
    return frames == other.frames && count == other.count && error == other.error;
  }
};

Outcome read_film(SourceOptions options) {
  Outcome outcome;
  try {
    const auto source = open_frame_source(options);
    outcome.format = source->format();
    outcome.full_range = source->full_range();
    for (;; ++outcome.count) {
      const std::string frame = test::read_frame(*source, outcome.count);
      if (frame.empty()) break;
      outcome.frames += frame;
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    EXPECT_EQ(error.place().frame, outcome.count) << error.what();
    outcome.error = error.id();
  }
  return outcome;
}

/// Reads a film several times, with many decoder threads and with one. Expects the same of each run.
Outcome read_film_often(SourceOptions options, int runs) {
  const Outcome first = read_film(options);
  for (int run = 1; run < runs; ++run) {
    options.limits.max_memory = run % 2 == 0 ? Limits{}.max_memory : 1 << 20;  // one thread: no memory for more
    EXPECT_EQ(read_film(options), first) << "run " << run << ": " << options.path;
  }
  return first;
}

class Films : public test::FolderTest {
 protected:
  static void SetUpTestSuite() { keep_media_messages(); }
  void SetUp() override {
    if (!test::have_command("ffmpeg")) GTEST_SKIP() << "no ffmpeg";
  }

  /// Runs ffmpeg. Returns false if it fails, for example because it lacks an encoder.
  [[nodiscard]] bool ffmpeg(const std::string& arguments) const {
    return test::shell("cd '" + folder_.string() + "' && ffmpeg -v error -y " + arguments + " 2>&1").exit_code == 0;
  }
  [[nodiscard]] bool make(const std::string& name, const std::string& arguments, const std::string& size = "64x48",
                          int frames = 12) const {
    // The source itself makes only even sides.
    const std::string graph = "testsrc2=size=160x120:rate=25,format=yuv444p,scale=" + size.substr(0, size.find('x')) + ":" +
                              size.substr(size.find('x') + 1);
    return ffmpeg("-f lavfi -i " + graph + " -frames:v " + std::to_string(frames) + " " + arguments + " " + name);
  }
};

TEST_F(Films, SharedFilmsGiveTheSameInEachRun) {
  struct Film {
    std::string name;
    bool tolerant;
    std::int64_t frames;
    std::string error;
    std::string sha256;  ///< of all samples; the first digits
  };
  const std::vector<Film> films = {
      // Damaged. FFmpeg's own frames of tolerant reading are the same.
      {"crc_128x96.ogv", false, 1, "C63-AV-DECODE", "95da09368f49e77a"},
      {"crc_128x96.ogv", true, 14, "", "d20aeb9ec72e5093"},
      {"cut_b_frames_128x96.ts", false, 28, "C63-AV-DECODE", "53683ff4b0bcf8be"},
      {"cut_b_frames_128x96.ts", true, 31, "", "1a21dda18a038159"},
      {"damaged_element_128x96.webm", false, 14, "C63-AV-DECODE", "97aa2db6b1745c9f"},
      {"damaged_element_128x96.webm", true, 14, "", "97aa2db6b1745c9f"},
      {"one_ts_packet_lost_128x96.ts", false, 18, "C63-AV-DECODE", "51d1bed00e487016"},
      {"one_ts_packet_lost_128x96.ts", true, 50, "", "c91c1d764b53e233"},
      {"two_ts_joined_64x48.ts", false, 30, "", "0122489e01f53909"},
      {"two_ts_joined_64x48.ts", true, 30, "", "0122489e01f53909"},
      // Full range: 4:2:0 is as stored, another layout is converted as ffmpeg -pix_fmt yuv420p converts it.
      {"full_range_h264_128x96.mp4", false, 25, "", "6597b6360d4bb8e9"},
      {"full_range_h264_crf40_128x96.mp4", false, 25, "", "bd896b2ecad311be"},
      {"one_128x96.jpg", false, 1, "", "8bf5e274650925bd"},
      {"y4m_444_full_range_64x48.y4m", false, 3, "", "91e65a267e19af12"},
      {"with_aac_64x48.mp4", false, 5, "", "34f5f5ab052a0477"},
  };
  if (!std::filesystem::exists(shared_film(films[0].name))) GTEST_SKIP() << "no films (set C63_SHARED_DATA)";
  for (const Film& film : films) {
    SCOPED_TRACE(film.name + (film.tolerant ? ", tolerant" : ""));
    const Outcome outcome = read_film_often({.path = shared_film(film.name), .tolerant = film.tolerant}, 10);
    EXPECT_EQ(outcome.count, film.frames);
    EXPECT_EQ(outcome.error, film.error);
    EXPECT_EQ(tools::sha256(outcome.frames).substr(0, 16), film.sha256);
    EXPECT_EQ(outcome.full_range, film.name.starts_with("full") || film.name.starts_with("one_128x96.jpg"));
  }
}

TEST_F(Films, NothingDamagedComesBeforeTheError) {
  for (const auto& [name, arguments] :
       {std::pair<std::string, std::string>{"b.ts", "-c:v libx264 -g 12 -bf 2 -x264-params slices=1"},
        {"b.mkv", "-c:v libx264 -g 12 -bf 3 -x264-params b-pyramid=normal"},
        {"p.264", "-c:v libx264 -g 30 -bf 0"},
        {"m.mpg", "-c:v mpeg2video -g 6 -bf 2 -q:v 2"},
        {"m.avi", "-c:v mpeg4 -g 12 -bf 2 -q:v 2"},
        {"h.mkv", "-c:v libx265 -x265-params log-level=none:keyint=12"},
        {"t.ogv", "-c:v libtheora -q:v 8"}}) {
    SCOPED_TRACE(name);
    if (!make(name, "-pix_fmt yuv420p " + arguments, "128x96", 25)) continue;
    const Outcome whole = read_film({.path = path(name)});
    ASSERT_EQ(whole.error, "");
    ASSERT_EQ(whole.count, 25);
    const std::string bytes = test::read_file(path(name));
    std::string changed = bytes;
    changed.replace(bytes.size() * 6 / 10, bytes.size() / 8, bytes.size() / 8, '\x55');
    for (const std::string& damaged : {changed, bytes.substr(0, bytes.size() * 7 / 10)}) {
      const Outcome outcome = read_film_often({.path = write_file("damaged." + name, damaged)}, 6);
      EXPECT_LT(outcome.count, 25);
      EXPECT_TRUE(whole.frames.starts_with(outcome.frames)) << "a damaged frame was given";  // VP9 is not here: its decoder cannot see damage
      // A cut at the end of a picture of a stream without a container cannot be seen.
      EXPECT_EQ(outcome.error.empty() ? "C63-AV-DECODE" : outcome.error, "C63-AV-DECODE");
      EXPECT_TRUE(!outcome.error.empty() || damaged.size() < bytes.size());
      const Outcome tolerant = read_film_often({.path = path("damaged." + name), .tolerant = true}, 4);
      EXPECT_EQ(tolerant.error, "");
      EXPECT_GE(tolerant.count, outcome.count);
    }
  }
}

TEST_F(Films, FramesWhoseKeyFrameIsLostAreLeftOutWithAWarningOrTakenIfTolerant) {
  if (!make("k.264", "-pix_fmt yuv420p -c:v libx264 -g 8 -bf 0")) GTEST_SKIP() << "no libx264";
  std::string bytes = test::read_file(path("k.264"));
  const std::size_t key = bytes.find(std::string("\0\0\1\x65", 4));  // the first slice of a key frame
  ASSERT_NE(key, std::string::npos);
  int warnings = 0;
  const auto frames_of = [&](const std::string& film, bool tolerant) {
    warnings = 0;
    const Outcome outcome = read_film_often({.path = write_file("k.264", film), .tolerant = tolerant, .warn = [&](const std::string&) { ++warnings; }}, 1);
    EXPECT_EQ(outcome.error, "");
    return outcome.count;
  };
  EXPECT_EQ(frames_of(bytes, false), 12);
  EXPECT_EQ(warnings, 0);
  bytes.erase(key, bytes.find(std::string("\0\0\1", 3), key + 4) - key);
  EXPECT_EQ(frames_of(bytes, false), 4);
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(frames_of(bytes, true), 11);
  EXPECT_EQ(warnings, 1);
}

TEST_F(Films, ACutIsAnErrorInFormatsThatFfmpegEndsWithoutAWord) {
  for (const auto& [name, arguments] : {std::pair<std::string, std::string>{"c.ogv", "-c:v libtheora"}, {"c.gif", ""}, {"c.apng", "-pix_fmt rgb24"},
                                        {"c.mxf", "-c:v mpeg2video -q:v 3"}, {"c.y4m", "-pix_fmt yuv422p"}}) {
    SCOPED_TRACE(name);
    if (!make(name, arguments)) continue;
    const Outcome whole = read_film({.path = path(name)});
    EXPECT_EQ(whole.error, "");
    EXPECT_EQ(whole.count, 12);
    const auto warnings_of = [](const std::string& film) {
      int warnings = 0;
      EXPECT_EQ(read_film({.path = film, .tolerant = true, .warn = [&](const std::string&) { ++warnings; }}).error, "");
      return warnings;
    };
    const int warnings_of_whole = warnings_of(path(name));
    const std::string bytes = test::read_file(path(name));
    for (std::size_t cut = 1; cut < bytes.size() / 2; cut += bytes.size() / 41) {
      const std::string part = write_file("cut." + name, bytes.substr(0, bytes.size() - cut));
      bool is_found = false;
      for (const bool piped : {false, true}) {
        const test::PipedInput input(piped ? test::read_file(part) : "");
        const Outcome outcome = read_film({.path = piped ? "-" : part});
        EXPECT_TRUE(whole.frames.starts_with(outcome.frames)) << cut;
        is_found = outcome.error == "C63-AV-DECODE";
        EXPECT_TRUE(is_found || outcome.frames == whole.frames) << cut << (piped ? ", piped" : "");
      }
      EXPECT_TRUE(!is_found || warnings_of(part) > warnings_of_whole) << cut;
    }
  }
}

TEST_F(Films, OneWrongBitIsFoundByTheChecksumsOfAFilm) {
  for (const auto& [name, arguments] : {std::pair<std::string, std::string>{"h.mkv", "-c:v libx265 -x265-params log-level=none:hash=1"},
                                        {"f.mkv", "-c:v ffv1 -level 3 -slicecrc 1"},
                                        {"t.ogv", "-c:v libtheora"},
                                        {"p.apng", "-pix_fmt rgb24"},
                                        {"p.png", "-pix_fmt rgb24 -frames:v 1"}}) {
    SCOPED_TRACE(name);
    if (!make(name, arguments)) continue;
    const Outcome whole = read_film({.path = path(name)});
    ASSERT_EQ(whole.error, "");
    const std::string bytes = test::read_file(path(name));
    int found = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      std::string changed = bytes;
      changed[bytes.size() * (16 + 3 * i) / 72] ^= static_cast<char>(1 << i % 8);
      const Outcome outcome = read_film({.path = write_file("changed." + name, changed)});
      EXPECT_TRUE(whole.frames.starts_with(outcome.frames)) << "a damaged frame was given: bit " << i;
      EXPECT_TRUE(outcome.count == whole.count || outcome.error == "C63-AV-DECODE") << outcome.count << " frames: bit " << i;
      found += outcome.error.empty() ? 0 : 1;
    }
    EXPECT_GE(found, 8);
  }
}

TEST_F(Films, PicturesAreReadByTheirContentOrName) {
  for (const std::string name : {"a.png", "a.jpg", "a.bmp", "a.tga", "a.pam", "a.ppm", "a.tif", "a.webp"}) {
    SCOPED_TRACE(name);
    if (!make(name, "", "64x48", 1)) continue;
    const Outcome outcome = read_film({.path = path(name)});
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.count, 1);
  }
}

TEST_F(Films, RatesOfUnevenAndStillPictures) {
  ASSERT_TRUE(make("uneven.gif", "-vf 'setpts=(N*10+4*mod(N\\,2))/100/TB' -fps_mode passthrough"));
  const double rate = read_film({.path = path("uneven.gif")}).format.rate.value();
  EXPECT_GT(rate, 8);
  EXPECT_LT(rate, 12);
  ASSERT_TRUE(make("cover.png", "", "64x48", 1));
  if (ffmpeg("-f lavfi -t 0.1 -i sine -i cover.png -c:a aac -c:v copy -map 0 -map 1 -disposition:v attached_pic cover.mp4")) {
    const Outcome cover = read_film({.path = path("cover.mp4")});
    EXPECT_EQ(cover.count, 1);
    EXPECT_EQ(cover.format.rate.value(), 25);
  }
}

TEST_F(Films, AGpuIsTriedForWhatItDecodesToTheSameSamples) {
  struct Film {
    std::string name;
    std::string arguments;
    bool tries;
    std::string size = "64x48";
  };
  for (const Film& film : {Film{"high.mp4", "-c:v libx264 -pix_fmt yuv420p", true},
                           {"baseline.mkv", "-c:v libx264 -pix_fmt yuv420p -profile:v baseline", true},
                           {"full.mp4", "-c:v libx264 -pix_fmt yuvj420p -color_range pc", true},
                           {"hevc.mkv", "-c:v libx265 -x265-params log-level=none -pix_fmt yuv420p", true},
                           {"vp9.webm", "-c:v libvpx-vp9 -pix_fmt yuv420p", true},
                           {"av1.mkv", "-c:v libsvtav1 -pix_fmt yuv420p", true},
                           {"444.mkv", "-c:v libx264 -pix_fmt yuv444p", false},
                           {"10-bits.mkv", "-c:v libx264 -pix_fmt yuv420p10le", false},
                           {"odd.mkv", "-c:v libx265 -x265-params log-level=none -pix_fmt yuv420p", false, "65x48"},
                           {"fields.mp4", "-vf setfield=tff -c:v libx264 -pix_fmt yuv420p -flags +ildct+ilme", false},
                           {"mpeg4.mp4", "-c:v mpeg4", false},
                           {"vp8.webm", "-c:v libvpx", false}}) {
    SCOPED_TRACE(film.name);
    if (!make(film.name, film.arguments, film.size)) continue;
    const auto device = std::make_shared<test::HostFilmDevice>();
    std::vector<std::string> warnings;
    SourceOptions options{.path = path(film.name), .device = device, .warn = [&](const std::string& text) { warnings.push_back(text); }};
    EXPECT_EQ(open_frame_source(options)->film_device(), nullptr);
    EXPECT_EQ(device->was_tried, film.tries);
    options.device = nullptr;
    const std::size_t count = std::exchange(warnings, {}).size();
    static_cast<void>(open_frame_source(options));
    EXPECT_EQ(count, warnings.size() + 1) << "one line says that the CPU decodes";
    options.device = device;
    EXPECT_EQ(read_film(options), read_film({.path = options.path}));
  }
  ASSERT_TRUE(make("h.ts", "-c:v libx264 -pix_fmt yuv420p"));
  const auto tries = [&](SourceOptions options) {
    const auto device = std::make_shared<test::HostFilmDevice>();
    options.device = device;
    static_cast<void>(open_frame_source(options));
    return device->was_tried.load();
  };
  const std::string film = path("h.ts");
  EXPECT_TRUE(tries({.path = film}));
  EXPECT_FALSE(tries({.path = film, .tolerant = true}));
  EXPECT_FALSE(tries({.path = film, .seek_table = std::make_shared<SeekTable>()}));
  EXPECT_FALSE(tries({.path = film, .details = std::make_shared<FrameDetails>(), .codec_vectors = true}));
  const test::PipedInput input(test::read_file(film));
  EXPECT_FALSE(tries({.path = "-"}));
}

}  // namespace
}  // namespace c63

#endif
