#include <fcntl.h>
#include <sys/stat.h>

#include <array>

#include "c63/frame_source.h"
#include "files/frame_writer.h"
#include "files/leftovers.h"
#include "files/output_file.h"
#include "files/scratch_folder.h"
#include "files/write_descriptor.h"
#include "io_test_support.h"

namespace c63 {
namespace {

using test::expect_error;
using test::read_file;
using test::sample_bytes;

class OutputFiles : public test::FolderTest {
 protected:
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
};

TEST_F(OutputFiles, AppearsOnlyOnCommit) {
  OutputFile file(path("out"));
  file.write("hello");
  EXPECT_FALSE(file.direct());
  EXPECT_EQ(file.bytes_written(), 5U);
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  file.commit();
  EXPECT_EQ(read_file(path("out")), "hello");
  EXPECT_EQ(files_in_folder(), 1);
  expect_error(ErrorKind::internal, "C63-WRITE-COMMITTED", [&] { file.write("more"); });
}

TEST_F(OutputFiles, WithoutCommitLeavesTheOldFileAlone) {
  write_file("out", "old");
  { OutputFile(path("out")).write("new"); }
  EXPECT_EQ(read_file(path("out")), "old");
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(OutputFiles, APartLeavesAnOlderFileItsName) {
  const auto write_part = [&](const std::string& name) {
    OutputFile file(path(name));
    file.write("part");
    return file.commit_part();
  };
  write_file("out.c63", "old");
  EXPECT_EQ(write_part("out.c63"), path("out.partial.c63"));
  EXPECT_EQ(read_file(path("out.c63")), "old");
  EXPECT_EQ(read_file(path("out.partial.c63")), "part");
  write_file("empty", "");
  EXPECT_EQ(write_part("empty"), "");
  EXPECT_EQ(read_file(path("empty")), "part");
  EXPECT_EQ(write_part("new"), "");
  EXPECT_EQ(read_file(path("new")), "part");
  EXPECT_EQ(files_in_folder(), 4);
  EXPECT_EQ(partial_name("/a.b/out"), "/a.b/out.partial");
  EXPECT_EQ(partial_name(".hidden"), ".hidden.partial");
  EXPECT_EQ(partial_name(std::string(250, 'x') + ".yuv"), std::string(80, 'x') + ".partial.yuv");
}

TEST_F(OutputFiles, ScratchFoldersAreRemovedWithTheirContent) {
  const std::list<std::string> before = leftovers().folders;  // the fixture's folder
  std::string kept;
  {
    const ScratchFolder folder(path(""), "scratch");
    kept = folder.path();
    EXPECT_EQ(folder.file("a"), kept + "/a");
    std::filesystem::create_directories(folder.file("inner") + "/deeper");
    for (int i = 0; i < 300; ++i) std::ofstream(folder.file("inner/") + std::to_string(i) + std::string(100, 'x')) << i;
    std::ofstream(path("outside")) << "stays";
    std::filesystem::create_directory_symlink(path(""), folder.file("inner/deeper/link"));
    EXPECT_EQ(leftovers().folders.size(), before.size() + 1);
    EXPECT_EQ(leftovers().folders.back(), kept);
  }
  EXPECT_FALSE(std::filesystem::exists(kept));
  EXPECT_TRUE(std::filesystem::exists(path("outside"))) << "a link was followed";
  EXPECT_EQ(leftovers().folders, before);
  expect_error(ErrorKind::output, "C63-WRITE-OPEN", [&] { ScratchFolder folder(path("none"), "scratch"); });
}

TEST_F(OutputFiles, NewFilesHaveTheUsersMaskAndOldOnesKeepTheirMode) {
  const mode_t mask = ::umask(027);
  OutputFile(path("new")).commit();
  ::umask(mask);
  EXPECT_EQ(mode_of(path("new")), 0640U);
  ::chmod(write_file("old", "").c_str(), 0604);
  OutputFile(path("old")).commit();
  EXPECT_EQ(mode_of(path("old")), 0604U);
}

TEST_F(OutputFiles, FollowsLinks) {
  std::filesystem::create_directory(path("dir"));
  write_file("dir/real", "old");
  std::filesystem::create_symlink("dir/real", path("link"));
  std::filesystem::create_symlink("dir/none", path("dangling"));
  for (const auto& [link, real] : {std::pair{"link", "dir/real"}, {"dangling", "dir/none"}}) {
    OutputFile file(path(link));
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(path(link)));
    EXPECT_EQ(read_file(path(real)), "new");
  }
}

TEST_F(OutputFiles, LinksInACircleAreRefused) {
  std::filesystem::create_symlink("b", path("a"));
  std::filesystem::create_symlink("a", path("b"));
  expect_error(ErrorKind::output, "C63-WRITE-OPEN", [&] { OutputFile file(path("a")); });
  EXPECT_TRUE(std::filesystem::is_symlink(path("a")));
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(OutputFiles, PartsHaveShortNames) {
  const std::string longest(255, 'x');
  OutputFile file(path(longest));
  file.write("x");
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_LE(entry.path().filename().string().size(), 110U);
    EXPECT_TRUE(entry.path().filename().string().starts_with("xxx"));
  }
  file.commit();
  EXPECT_EQ(read_file(path(longest)), "x");
  expect_error(ErrorKind::output, "C63-WRITE-OPEN", [&] { OutputFile too_long(path(longest + "x")); });
}

TEST_F(OutputFiles, DurableFilesAppearTheSameWay) {
  write_file("old", "old");
  for (const char* name : {"old", "new"}) {
    OutputFile file(path(name), Durability::power_loss);
    file.write("bytes");
    file.commit();
    EXPECT_EQ(read_file(path(name)), "bytes");
  }
  OutputFile null("/dev/null", Durability::power_loss);  // it cannot be synced, which is not an error
  null.write("bytes");
  null.commit();
  EXPECT_EQ(files_in_folder(), 2);
}

TEST_F(OutputFiles, RefusesWhatCannotBeWritten) {
  expect_error(ErrorKind::output, "C63-WRITE-OPEN", [&] { OutputFile file(folder_.string()); });
  expect_error(ErrorKind::output, "C63-WRITE-OPEN", [&] { OutputFile file(path("none/out")); });
  expect_error(ErrorKind::usage, "C63-OUTPUT-MISSING", [&] { OutputFile file(""); });
  if (::geteuid() == 0) return;  // root may write everything
  ::chmod(write_file("locked", "old").c_str(), 0444);
  expect_error(ErrorKind::output, "C63-WRITE-OPEN", [&] { OutputFile file(path("locked")); });
}

TEST_F(OutputFiles, NamedPipesAreWrittenDirectly) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const int reader = ::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile file(path("fifo"));
  file.write("now");
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 3);
  file.commit();
  ::close(reader);
  EXPECT_EQ(files_in_folder(), 1);
}

/// Of three files for a named pipe, only the one that is committed reaches it. The first is ended, the second begun anew.
TEST_F(OutputFiles, ANamedPipeGetsOnlyWhatIsCommitted) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const int reader = ::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  for (const bool is_committed : {false, true, false}) {
    OutputFile file(path("fifo"), {Durability::power_loss, true});
    EXPECT_FALSE(file.direct());
    file.write(is_committed ? "ok" : "no");
    if (!is_committed) continue;
    EXPECT_EQ(file.commit_part(), "");
  }
  std::array<char, 8> got{};
  EXPECT_EQ(::read(reader, got.data(), got.size()), 2);
  EXPECT_STREQ(got.data(), "ok");
  ::close(reader);
  EXPECT_EQ(files_in_folder(), 1);
  expect_error(ErrorKind::output, "C63-WRITE-FAILED", [] {
    OutputFile file("/dev/full", {Durability::process, true});
    file.write("it has no room");
    file.commit();
  });
}

TEST_F(OutputFiles, SameFileSeesThroughLinks) {
  write_file("a", "");
  write_file("b", "");
  std::filesystem::create_symlink("a", path("soft"));
  std::filesystem::create_hard_link(path("a"), path("hard"));
  EXPECT_TRUE(same_file(path("a"), path("a")));
  EXPECT_TRUE(same_file(path("a"), folder_.string() + "/./a"));
  EXPECT_TRUE(same_file(path("soft"), path("a")));
  EXPECT_TRUE(same_file(path("a"), path("soft")));
  EXPECT_TRUE(same_file(path("a"), path("hard")));
  EXPECT_FALSE(same_file(path("a"), path("b")));
  EXPECT_FALSE(same_file(path("a"), path("none")));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
  const test::RedirectedDescriptor redirected(STDIN_FILENO, ::open(path("a").c_str(), O_RDONLY));
  EXPECT_TRUE(same_file("-", path("a")));
  EXPECT_FALSE(same_file("-", path("b")));
}

TEST_F(OutputFiles, Y4mWriterIsReadBack) {
  const std::string frames = sample_bytes(48);
  const auto writer = open_frame_writer(path("a.Y4M"), {30000, 1001});
  writer->write(4, 4, bytes_of(frames).first(24));
  writer->write(4, 4, bytes_of(frames).last(24));
  expect_error(ErrorKind::output, "C63-Y4M-SIZE-CHANGE", [&] { writer->write(2, 8, bytes_of(frames).first(24)); });
  writer->commit();
  EXPECT_EQ(read_file(path("a.Y4M")), "YUV4MPEG2 W4 H4 F30000:1001 Ip A0:0 C420jpeg\nFRAME\n" + frames.substr(0, 24) +
                                          "FRAME\n" + frames.substr(24));
  const auto source = open_frame_source({.path = path("a.Y4M")});
  EXPECT_EQ(source->format().width, 4);
  EXPECT_EQ(source->format().rate.numerator, 30000);
  EXPECT_EQ(source->format().rate.denominator, 1001);
  EXPECT_EQ(test::read_all(*source), frames);
}

TEST_F(OutputFiles, Y4mWriterRefusesOddSides) {
  const std::string frame = sample_bytes(30);
  const auto writer = open_frame_writer(path("a.y4m"));
  expect_error(ErrorKind::usage, "C63-Y4M-ODD", [&] { writer->write(5, 4, bytes_of(frame)); });
}

}  // namespace
}  // namespace c63
