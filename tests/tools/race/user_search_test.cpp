// Tests c63enc --me FILE, which encodes with a search from a file. It must work with every preset.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/folder_test.h"
#include "support/shared_data.h"
#include "support/shell.h"
#include "support/sources.h"

namespace c63::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 96;
constexpr int kHeight = 80;
constexpr int kFrames = 7;

class UserSearchTest : public test::FolderTest {
 protected:
  void SetUp() override {
    if (!test::have_command("cc")) GTEST_SKIP() << "no C compiler (cc)";
    test::write_bytes(path("in.yuv"), test::moving_video(kWidth, kHeight, kFrames));
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(const std::string& name) const { return test::read_bytes(path(name)); }

  /// Encodes the video to `output` in GOPs of three frames, with these arguments.
  [[nodiscard]] test::ShellResult encode(const std::string& arguments, const std::string& output = "out.c63") const {
    return test::shell("cd '" + folder_.string() + "' && CFLAGS=-O1 '" C63_BIN_DIR "/c63enc' -w 96 -h 80 --keyint 3 --quiet in.yuv " +
                       output + " " + arguments + " 2>&1");
  }
};

std::string example(const std::string& name) { return std::string(C63_SOURCE_DIR "/tools/race/examples/cpu/") + name + ".c"; }

TEST_F(UserSearchTest, EachExampleEncodesInEveryPreset) {
  for (const std::string name : {"exact", "three_step", "diamond", "hexagon", "pyramid"}) {
    // c63enc would compile a .c file in each of the runs below. To save time, it is compiled here, once. Another test
    // uses .c files.
    const std::string compile = "cc -O1 -shared -fPIC -I'" C63_SOURCE_DIR "/encoder/include' -o '" + path(name + ".so") + "' '" + example(name) + "'";
    ASSERT_EQ(test::shell(compile).exit_code, 0);
    for (const std::string preset : {"reference", "fast", "good", "best"}) {
      SCOPED_TRACE(name + ", " + preset);
      const std::string arguments = "--preset " + preset + " --me " + name + ".so";
      const test::ShellResult one = encode(arguments + " --threads 1 --verify --recon shown.yuv", "one.c63");
      ASSERT_EQ(one.exit_code, 0) << one.output;
      ASSERT_EQ(encode(arguments + " --threads 3 --lanes 2", "three.c63").exit_code, 0);
      EXPECT_EQ(bytes("one.c63"), bytes("three.c63"));
      ASSERT_EQ(test::shell("cd '" + folder_.string() + "' && '" C63_BIN_DIR "/c63dec' --quiet one.c63 decoded.yuv").exit_code, 0);
      EXPECT_EQ(bytes("decoded.yuv"), bytes("shown.yuv"));
    }
  }
}

TEST_F(UserSearchTest, ExactSearchGivesTheReferencePresetsBytes) {
  ASSERT_EQ(encode("", "built_in.c63").exit_code, 0);
  const test::ShellResult own = encode("--me '" + example("exact") + "' --json report.json");
  ASSERT_EQ(own.exit_code, 0) << own.output;
  EXPECT_EQ(bytes("out.c63"), bytes("built_in.c63"));
  std::ifstream file(path("report.json"));
  const auto report = nlohmann::json::parse(file);
  const auto& search = report["settings"]["search_method"];
  EXPECT_EQ(search["file"], "exact.c");
  EXPECT_EQ(report["settings"]["differences_from_course"].size(), 1U);  // the key interval
  EXPECT_EQ(test::shell("sha256sum '" + example("exact") + "'").output.substr(0, 64), search["sha256"].get<std::string>());
}

TEST_F(UserSearchTest, ASegmentsRecordNamesTheSearch) {
  ASSERT_EQ(encode("--segment 1/2 --me '" + example("diamond") + "'", "part.c63").exit_code, 0);
  EXPECT_EQ(test::shell("grep -c diamond.c '" + folder_.string() + "'/part.c63.json").output, "1\n");
}

constexpr const char* kHead = "#include <c63/motion_kernel.h>\nC63_MOTION_EXPORT void c63_motion_search(const c63_motion_job* job) {\n";
/// Returns the C code of a search that sets all vectors to zero and then runs the code `change`.
std::string zero_but(const std::string& change) {
  return std::string(kHead) + "  for (int i = 0; i < job->width / 8 * (job->height / 8); ++i) job->vectors[i].x = job->vectors[i].y = 0;\n" + change + "}\n";
}

TEST_F(UserSearchTest, AWrongVectorIsToldWithFramePlaneAndBlock) {
  const auto refused = [this](const std::string& change, const std::string& arguments = "") {
    write_file("mine.c", zero_but(change));
    const test::ShellResult result = encode("--me mine.c --threads 1 --lanes 1 " + arguments);
    EXPECT_EQ(result.exit_code, 2);
    return result.output;
  };
  for (const std::string preset : {"reference", "fast", "good", "best"}) {
    SCOPED_TRACE(preset);
    EXPECT_NE(refused("  if (job->width < 96) job->vectors[1].x = -9;\n", "--preset " + preset + " --merange 16")
                  .find("mine.c: frame 1: U block (1, 0): your vector (-9, 0) is not a candidate; candidates are (-8, 0) to (7, 7)"),
              std::string::npos);
  }
  EXPECT_NE(refused("  job->vectors[11].x = 0; job->vectors[11].y = 127;\n").find("Y block (11, 0): your vector (0, 127)"), std::string::npos);
  write_file("mine.c", std::string(kHead) + "}\n");
  EXPECT_NE(encode("--me mine.c --threads 1 --lanes 1").output.find("frame 1: Y block (0, 0): your search wrote no vector; candidates are (0, 0) to (15, 15)"), std::string::npos);
  write_file("mine.c", zero_but("  static int frames = 0;\n  if (job->width == 96 && ++frames == 2) job->vectors[0].x = -1;\n"));
  const test::ShellResult later = encode("--me mine.c --threads 1 --lanes 1");
  EXPECT_NE(later.output.find("frame 2: Y block (0, 0): your vector (-1, 0)"), std::string::npos) << later.output;
}

TEST_F(UserSearchTest, EachChainHasItsOwnStaticVariables) {
  // This search copies samples to a static array and then checks the copy several times. It fails if two chains share
  // the array.
  write_file("mine.c", zero_but("  static unsigned char kept[96 * 80];\n"
                           "  for (int y = 0; y < job->height; ++y) for (int x = 0; x < job->width; ++x)\n"
                           "    kept[y * job->width + x] = job->current[y * job->current_pitch + x];\n"
                           "  for (int n = 0; n < 20; ++n) for (int y = 0; y < job->height; ++y) for (int x = 0; x < job->width; ++x)\n"
                           "    if (kept[y * job->width + x] != job->current[y * job->current_pitch + x]) job->vectors[0].x = 99;\n"));
  const test::ShellResult result = encode("--me mine.c --threads 4 --lanes 3");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST_F(UserSearchTest, AnyNameOfTheFileWorks) {
  for (const std::string name : {"0.c", "1.c", "copy.c", "-x.c"}) {
    write_file(name, zero_but(""));
    const test::ShellResult result = encode("--me=" + name);
    EXPECT_EQ(result.exit_code, 0) << name << result.output;
  }
}

TEST_F(UserSearchTest, ASearchThatEndsTheProgramIsAnError) {
  for (const std::string end : {"exit(0)", "exit(7)", "_exit(0)", "_Exit(0)", "quick_exit(0)",
                                "pthread_t t; pthread_create(&t, 0, (void* (*)(void*))_exit, 0); sleep(9)"}) {
    write_file("mine.c", "#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n" + zero_but("  " + end + ";\n"));
    const test::ShellResult result = encode("--me mine.c --threads 3");
    EXPECT_EQ(result.exit_code, 2) << end;
    EXPECT_NE(result.output.find("[C63-SEARCH-EXIT]"), std::string::npos) << end << result.output;
  }
  write_file("forks.c", "#include <unistd.h>\n" + zero_but("  if (fork() == 0) _exit(0);\n"));
  EXPECT_EQ(encode("--me forks.c", "forks.c63").exit_code, 0);
  write_file("start.c", "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { exit(0); }\n" + zero_but(""));
  EXPECT_EQ(encode("--me start.c").exit_code, 2);
  EXPECT_EQ(test::shell("ls -d '" + folder_.string() + "'/*part* 2>/dev/null").output, "");
}

TEST_F(UserSearchTest, FilesThatCannotBeUsedAreRefusedInOneLine) {
  const auto expect = [this](const std::string& arguments, int exit_code, const std::string& id = "") {
    const test::ShellResult result = encode(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    EXPECT_NE(result.output.find(id), std::string::npos) << result.output;
    EXPECT_FALSE(fs::exists(path("out.c63")));
  };
  write_file("broken.c", "this is no C\n");
  write_file("empty.c", "int unused;\n");
  write_file("mine.c", zero_but(""));
  write_file("mine.cu", "no kernel\n");
  expect("--me broken.c", 2, "C63-SEARCH-COMPILE");
  expect("--me empty.c", 2, "C63-SEARCH-FORM");
  expect("--me missing.c", 4, "C63-OPEN");
  expect("--me mine.txt", 2);
  expect("--me mine.c --backend cuda", 2);
  expect("--me mine.c --me-kernel mine.cu", 2);
  expect("--me-kernel mine.cu --backend cpu", 2);
  expect("--me-kernel textbook --preset fast", 2);
  expect("--me-kernel mine.cu --compare-cpu", 2);
}

}  // namespace
}  // namespace c63::tools
