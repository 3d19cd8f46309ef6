#include "c63/frame_source.h"
#include "io_test_support.h"

namespace c63 {
namespace {

using test::expect_error;
using test::read_all;
using test::sample_bytes;

class PgmSource : public test::TemporaryFolder {
 protected:
  std::unique_ptr<FrameSource> open(const std::string& content) {
    return open_frame_source({.path = write_file("a.pgm", content)});
  }
};

TEST_F(PgmSource, PicturesAreLumaAndChromaIsGrey) {
  const std::string a = sample_bytes(32, 1);
  const std::string b = sample_bytes(32, 2);
  const std::string grey(16, '\x80');
  const auto source = open("P5\n8 4\n255\n" + a + "P5 8 4 255\n" + b);
  EXPECT_EQ(source->format().width, 8);
  EXPECT_EQ(source->format().height, 4);
  EXPECT_EQ(read_all(*source), a + grey + b + grey);
}

TEST_F(PgmSource, DamageIsNamed) {
  const std::string a = sample_bytes(32, 1);
  for (const std::string& content : {"P5\n8 4\n65535\n" + a, std::string("P5\n8\n"), "P5\n8 4\n255\n" + a.substr(1),
                                     "P5\n8 4\n255\n" + a + "P5\n4 8\n255\n" + a}) {
    expect_error(ErrorKind::input, "C63-PGM", [&] { (void)read_all(*open(content)); }, [](const Error&) {});
  }
}

}  // namespace
}  // namespace c63
