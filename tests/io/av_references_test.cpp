#ifdef C63_HAVE_FFMPEG

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>

#include <array>

#include "c63/frame_source.h"
#include "io_test_support.h"
#include "movie_builder.h"

// Some formats can refer to other files or to hosts. c63 must open nothing but the named file.

namespace c63 {
namespace {

using test::expect_error;

/// A socket on this machine that waits for connections. The test fails if FFmpeg connects to it.
class SilentSocket {
 public:
  SilentSocket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    EXPECT_EQ(::listen(descriptor_, 8), 0);  // takes a free port
    EXPECT_EQ(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ::ntohs(address.sin_port);
  }
  ~SilentSocket() {
    EXPECT_LT(::accept(descriptor_, nullptr, nullptr), 0) << "somebody connected";
    ::close(descriptor_);
  }
  SilentSocket(const SilentSocket&) = delete;
  SilentSocket& operator=(const SilentSocket&) = delete;

  [[nodiscard]] std::string port() const { return std::to_string(port_); }

 private:
  int descriptor_;
  int port_ = 0;
};

std::string picture(char sample) { return "P6\n16 16\n255\n" + std::string(16 * 16 * 3, sample); }

class AvReferences : public test::FolderTest {
 protected:
  void SetUp() override {
    other_ = write_file("other.ppm", picture('o'));
    write_file("other.bin", std::string(16 * 16 * 3, 'o'));
    watch_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (const char* name : {"other.ppm", "other.bin"}) {
      EXPECT_GE(::inotify_add_watch(watch_, path(name).c_str(), IN_OPEN), 0);
    }
  }
  void TearDown() override {
    std::array<char, 4096> events{};
    EXPECT_LT(::read(watch_, events.data(), events.size()), 0) << "another file was opened";
    ::close(watch_);
  }

  /// Expects that opening this content is refused, both as a file with this name and from a pipe.
  void expect_refused(const std::string& name, const std::string& content) {
    SCOPED_TRACE(name + ": " + content.substr(0, 60));
    const std::string file = write_file(name, content);
    expect_error(ErrorKind::input, "C63-AV-REFERENCES", [&] { (void)open_frame_source({.path = file}); });
    const test::PipedInput input(content);
    expect_error(ErrorKind::input, "C63-AV-REFERENCES", [&] { (void)open_frame_source({.path = "-"}); });
  }

  std::string other_;
  int watch_ = -1;
  SilentSocket tcp_;
};

TEST_F(AvReferences, PlaylistsAreRefused) {
  const std::string head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n";
  for (const std::string& target : {"http://127.0.0.1:" + tcp_.port() + "/a.ts", other_, "file:" + other_, std::string("other.ppm")}) {
    expect_refused("video.mp4", head + "#EXTINF:1,\n" + target + "\n#EXT-X-ENDLIST\n");
    expect_refused("video.m3u8", head + "#EXT-X-KEY:METHOD=AES-128,URI=\"" + target + "\"\n#EXTINF:1,\n" + target + "\n");
  }
  expect_refused("video.mp4", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://127.0.0.1:" + tcp_.port() + "/x.m3u8\n");
}

TEST_F(AvReferences, ScriptsAndDescriptionsAreRefused) {
  expect_refused("video.mp4", "ffconcat version 1.0\nfile '" + other_ + "'\n");
  expect_refused("video.mp4", "ffconcat version 1.0\nfile 'other.ppm'\nfile 'http://127.0.0.1:" + tcp_.port() + "/'\n");
  expect_refused("video.mp4", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video " + tcp_.port() +
                                  " RTP/AVP 96\na=rtpmap:96 H264/90000\n");
}

TEST_F(AvReferences, DashIsRefusedWhereFfmpegHasIt) {
  const std::string manifest =
      "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" profiles=\"urn:mpeg:dash:profile:isoff-main:2011\" "
      "type=\"static\" mediaPresentationDuration=\"PT1S\"><Period><AdaptationSet><Representation id=\"1\" bandwidth=\"1\">"
      "<BaseURL>http://127.0.0.1:" + tcp_.port() + "/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>";
  const std::string file = write_file("video.mp4", manifest);
  try {
    (void)open_frame_source({.path = file});
    ADD_FAILURE() << "a manifest was read";
  } catch (const Error& error) {
    EXPECT_TRUE(error.id() == "C63-AV-REFERENCES" || error.id() == "C63-AV-OPEN") << error.what();
  }
}

TEST_F(AvReferences, DataOfAMovieInAnotherFileIsRefused) {
  expect_refused("video.mov", test::movie_with_data_elsewhere("disk:" + path("other.bin")));
  expect_refused("video.mov", test::movie_with_data_elsewhere(path("other.bin")));
}

TEST_F(AvReferences, NamesAreNeitherPatternsNorAddresses) {
  // "p%03d.ppm" and "p*.ppm" are taken as plain file names. If they were taken as patterns, these two files would be
  // read instead.
  write_file("p000.ppm", picture('n'));
  write_file("p001.ppm", picture('n'));
  for (const std::string name : {"p%03d.ppm", "p*.ppm", "concat:p000.ppm|p001.ppm"}) {
    SCOPED_TRACE(name);
    const auto source = open_frame_source({.path = write_file(name, picture('y'))});
    EXPECT_EQ(test::read_all(*source).size(), 16U * 16 * 3 / 2);
    EXPECT_EQ(test::read_frame(*open_frame_source({.path = path(name)}), 0).substr(0, 256),
              test::read_frame(*open_frame_source({.path = write_file("y.ppm", picture('y'))}), 0).substr(0, 256));
  }
  for (const std::string& name : {"http://127.0.0.1:" + tcp_.port() + "/a.mp4", "tcp://127.0.0.1:" + tcp_.port(),
                                  "concat:" + other_, "file:" + other_, path("none%03d.ppm")}) {
    SCOPED_TRACE(name);
    expect_error(ErrorKind::input, "C63-INPUT-OPEN", [&] { (void)open_frame_source({.path = name, .format = SourceFormat::av}); });
  }
}

}  // namespace
}  // namespace c63

#endif
