#include <set>
#include <sstream>

#include "tools_test_support.h"

// Tests command lines that end with an error: the exit code, the error's id, and the files that are there afterwards.

namespace c63::test {
namespace {

struct Row {
  std::string command;  ///< words of a command line; the first is a program's name without c63
  int exit_code = 2;
  std::string id = "C63-USAGE";  ///< empty: the program ends without a word
  std::string makes = {};        ///< names of new files
  std::string from = {};         ///< file that standard input gives
};

const std::vector<Row> kRows = {
    // Words that no option or value is.
    {"enc v_32x32.yuv o.c63 --no-such-option"},
    {"enc v_32x32.yuv o.c63 more.c63"},
    {"enc -o o.c63"},
    {"enc v_32x32.yuv"},
    {"enc v_32x32.yuv o.c63 -q abc"},
    {"enc v_32x32.yuv o.c63 -q"},
    {"enc v_32x32.yuv o.c63 -q 20 -q 30"},
    {"enc v_32x32.yuv o.c63 -q 0x"},
    {"enc v_32x32.yuv o.c63 --preset better"},
    {"enc v_32x32.yuv o.c63 --me none"},
    {"enc v_32x32.yuv o.c63 --fps 0"},
    {"enc v_32x32.yuv o.c63 --fps x"},
    {"enc v_32x32.yuv o.c63 --backend opencl"},
    {"enc v_32x32.yuv o.c63 --backend cpu,auto"},
    {"enc v_32x32.yuv o.c63 --device one"},
    {"enc v_32x32.yuv o.c63 --device 1024"},
    {"enc v_32x32.yuv o.c63 --device 1.5"},
    {"enc v_32x32.yuv o.c63 --threads -1"},
    {"enc v_32x32.yuv o.c63 --threads 4097"},
    {"enc v_32x32.yuv o.c63 --lanes 4097"},
    {"enc v_32x32.yuv o.c63 --merange 1.5"},
    {"enc v_32x32.yuv o.c63 --simd mmx"},
    {"enc v_32x32.yuv o.c63 -f -1"},
    {"enc v_32x32.yuv o.c63 --seek 99999999999999999999"},
    {"enc v_32x32.yuv o.c63 --max-pixels -1"},
    {"enc v_32x32.yuv o.c63 --max-memory -1"},
    {"enc v_32x32.yuv o.c63 --max-memory 0"},
    {"enc v_32x32.yuv o.c63 --log-level loud"},
    {"enc v_32x32.yuv o.c63 --progress often"},
    {"enc v_32x32.yuv o.c63 --input-format mp4"},
    {"enc v_32x32.yuv o.c63 --prefilter median:3", 2, "C63-PREFILTER"},
    {"enc v_32x32.yuv o.c63 --backend cpu --device 0"},
    {"enc v_32x32.yuv o.c63 --backend cpu --me-kernel tile"},
    {"enc v_32x32.yuv o.c63 --backend cpu --upload pair"},
    {"enc v_32x32.yuv o.c63 --backend cpu --launch stream"},
    {"enc v_32x32.yuv o.c63 --compare-cpu --input-res 32x32 -i -"},
    {"enc - o.c63 -w 32 -h 32 --compare-cpu", 2, "C63-USAGE", "", "raw.yuv"},
    {"enc v_32x32.yuv o.c63 --segment 0/3"},
    {"enc v_32x32.yuv o.c63 --segment 4/3"},
    {"enc v_32x32.yuv o.c63 --segment -1/3"},
    {"enc v_32x32.yuv o.c63 --segment 1/0"},
    {"enc v_32x32.yuv o.c63 --segment 1"},
    {"enc v_32x32.yuv o.c63 --segment 1/"},
    {"enc v_32x32.yuv o.c63 --segment /3"},
    {"enc v_32x32.yuv o.c63 --segment 1/3x"},
    {"enc v_32x32.yuv o.c63 --segment 1/99999999999"},
    {"enc v_32x32.yuv o.c63 --segment-plan plan"},
    {"enc v_32x32.yuv o.c63 --size 9kB --bitrate 10k"},
    {"enc v_32x32.yuv o.c63 --bitrate x"},
    {"enc v_32x32.yuv o.c63 --size 1kk"},
    {"enc v_32x32.yuv o.c63 --size -5"},
    {"enc v_32x32.yuv o.c63 --size 99999999999TB"},
    {"enc v_32x32.yuv o.c63 --target-psnr u:30"},
    {"enc v_32x32.yuv o.c63 --target-psnr 38x"},
    {"enc v_32x32.yuv o.c63 --stats s.json"},
    {"enc v_32x32.yuv o.c63 --spool ."},
    {"enc v_32x32.yuv o.c63 --config none.conf"},
    {"enc v_32x32.yuv o.c63 --config folder"},
    {"enc v_32x32.yuv o.c63 --config good.conf --qp thirty"},
    {"dec"},
    {"dec s.c63"},
    {"dec s.c63 o.yuv --backend cpu --device 0"},
    {"dec s.c63 - --list"},
    {"dec s.c63 --seek=1m o.yuv"},
    {"dec s.c63 --seek=-1 o.yuv"},
    {"dec s.c63 --seek=1:60 o.yuv"},
    {"dec s.c63 --seek=1:2:3:4 o.yuv"},
    {"dec s.c63 --seek=s o.yuv"},
    {"dec s.c63 --seek=:5 o.yuv"},
    {"dec s.c63 --seek=1e99s o.yuv"},
    {"dec s.c63 --seek=nan o.yuv"},
    {"dec s.c63 --seek= o.yuv"},
    {"pred s.c63"},
    {"join -o o.c63"},
    {"join s.c63"},
    {"info"},
    {"gen -o g.yuv --pattern nothing"},
    {"gen -o g.yuv --mv 3"},
    {"gen -o g.yuv --noise -1", 2, "C63-GEN-NOISE"},
    {"cmp s.c63 s.c63 -w 32"},
    {"cmp s.c63 s.c63 -h 32"},
    {"mv s.c63 --scale 17"},
    {"mv s.c63 --type mv,colour"},
    {"filter"},
    {"filter mean"},
    {"filter convolve s.txt -"},
    {"filter convolve s.txt - --kernel 1,x"},
    {"filter histogram v_32x32.yuv --bins 257"},
    {"filter reduce v_32x32.yuv --op median"},
    // Values that the encoder does not take.
    {"enc v_32x32.yuv o.c63 -q 4", 2, "C63-QP-RANGE"},
    {"enc v_32x32.yuv o.c63 -q 51", 2, "C63-QP-RANGE"},
    {"enc v_32x32.yuv o.c63 --keyint 0", 2, "C63-KEYINT-RANGE"},
    {"enc v_32x32.yuv o.c63 --merange 128", 2, "C63-MERANGE-RANGE"},
    {"enc v_32x32.yuv o.c63 --tune ssim", 2, "C63-TUNE-PRESET"},
    {"enc v_32x32.yuv o.c63 --max-pixels 1023", 5, "C63-MAX-PIXELS"},
    {"enc v_32x32.yuv o.c63 --max-memory 1kb", 5, "C63-MAX-MEMORY"},
    {"enc v_32x32.yuv - --segment 1/3", 2, "C63-SEGMENT-OUTPUT"},
    {"enc - o.c63 -w 32 -h 32 --segment 1/3", 2, "C63-SEGMENT-INPUT", "", "raw.yuv"},
    {"enc v_32x32.yuv o.c63 --segment 1/3 --size 9k", 2, "C63-SEGMENT-TARGET"},
    // Sizes.
    {"enc raw.yuv o.c63", 2, "C63-SIZE-UNKNOWN"},
    {"enc raw.yuv o.c63 --input-res 7"},
    {"enc raw.yuv o.c63 --input-res 32x32 -w 32 -h 32"},
    {"enc raw.yuv o.c63 -w 32"},
    {"enc raw.yuv o.c63 -w 99999999999"},
    {"enc raw.yuv o.c63 -w 0 -h 32", 2, "C63-SIZE-ZERO"},
    {"enc raw.yuv o.c63 -w 0 -h 0", 2, "C63-SIZE-ZERO"},
    {"enc raw.yuv o.c63 -w 32 -h -32", 2, "C63-SIZE-ZERO"},
    {"enc raw.yuv o.c63 -w 15 -h 15", 2, "C63-SIZE-AREA"},
    {"enc raw.yuv o.c63 -w 65536 -h 2", 5, "C63-SIZE-RANGE"},
    {"dec s.c63 o.yuv --max-pixels 1000", 5, "C63-MAX-PIXELS"},
    {"dec s.c63 m.ppm -f 1 --max-memory 16KiB", 5, "C63-MAX-MEMORY"},
    // Input that is missing, empty, partial or something else.
    {"enc no_32x32.yuv o.c63", 4, "C63-INPUT-OPEN"},
    {"enc folder o.c63 -w 32 -h 32", 4, "C63-INPUT-OPEN"},
    {"enc v_32x32.yuv o.c63 --seek 6", 4, "C63-NO-FRAMES"},
    {"enc empty.yuv o.c63 -w 32 -h 32", 4, "C63-NO-FRAMES"},
    {"enc - o.c63 -w 32 -h 32", 4, "C63-NO-FRAMES"},
    {"enc partial.yuv o.c63 -w 32 -h 32 --strict", 4, "C63-RAW-PARTIAL"},
    {"enc - o.c63 -w 32 -h 32 --strict", 4, "C63-RAW-PARTIAL", "o.c63", "partial.yuv"},  // the frames before are kept
    {"enc partial.yuv o.c63 -w 32 -h 32", 0, "", "o.c63"},
    {"dec no.c63 o.yuv", 4, "C63-INPUT-OPEN"},
    {"dec empty.yuv o.yuv", 4, "C63-STREAM-EMPTY"},
    {"dec raw.yuv o.yuv", 4, "C63-NO-FRAME"},
    {"dec repeat.c63 o.yuv", 4, "C63-REPEAT-FIRST"},
    {"dec s.c63 o.yuv --seek 6", 4, "C63-NO-FRAMES"},
    {"dec s.c63 o.yuv --seek 1:00", 4, "C63-NO-FRAMES"},
    {"dec --list -", 4, "C63-NOT-SEEKABLE", "", "s.c63"},
    {"info empty.yuv", 4, "C63-STREAM-EMPTY"},
    {"info raw.yuv", 4, "C63-NO-FRAME"},
    {"info no.c63", 4, "C63-INPUT-OPEN"},
    // Outputs that cannot be opened or written.
    {"enc v_32x32.yuv no/o.c63", 6, "C63-WRITE-OPEN"},
    {"enc v_32x32.yuv folder", 6, "C63-WRITE-OPEN"},
    {"enc v_32x32.yuv o.c63 --csv no/f.csv", 6, "C63-WRITE-OPEN"},
    {"enc v_32x32.yuv o.c63 --log-file raw.yuv/log", 6, "C63-LOG-FILE"},
    {"enc v_32x32.yuv o.c63 --log-file /dev/full", 6, "C63-LOG-FILE", "o.c63"},
    {"enc v_32x32.yuv /dev/full", 6, "C63-WRITE-FAILED"},
    {"dec s.c63 /dev/full", 6, "C63-WRITE-FAILED"},
    // If one output in addition to the stream fails, everything else is completed.
    {"enc v_32x32.yuv o.c63 --recon /dev/full --pred p.yuv", 6, "C63-WRITE-FAILED", "o.c63 p.yuv"},
    {"enc v_32x32.yuv o.c63 --pred /dev/full", 6, "C63-WRITE-FAILED", "o.c63"},
    {"enc v_32x32.yuv o.c63 --trace /dev/full", 6, "C63-WRITE-FAILED", "o.c63"},
    {"enc v_32x32.yuv o.c63 --json /dev/full", 6, "C63-WRITE-FAILED", "o.c63"},
    {"dec s.c63 o.yuv --trace /dev/full", 6, "C63-WRITE-FAILED", "o.yuv"},
    // These files begin with a header, and writing it fails before a frame is encoded.
    {"enc v_32x32.yuv o.c63 --csv /dev/full", 6, "C63-WRITE-FAILED"},
    {"enc v_32x32.yuv o.c63 --stats-yuview /dev/full", 6, "C63-WRITE-FAILED"},
    {"gen -w 32 -h 32 -f 2 -o g.yuv --truth /dev/full", 6, "C63-WRITE-FAILED"},
    // Files that would overwrite others.
    {"enc v_32x32.yuv v_32x32.yuv", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv link.yuv", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv hard.yuv", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv ./v_32x32.yuv", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv o.c63 --recon link.yuv", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv o.c63 --recon ./o.c63", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv - --json -", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv o.c63 --segment 1/3 --json o.c63.json", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv /dev/null --recon /dev/null", 0, ""},
    {"dec s.c63 s.c63", 2, "C63-SAME-FILE"},
    {"dec s.c63 o.yuv --trace s.c63", 2, "C63-SAME-FILE"},
    {"dec s.c63 --index s.c63", 2, "C63-SAME-FILE"},
    {"info s.c63 --json s.c63", 2, "C63-SAME-FILE"},
    {"enc v_32x32.yuv -o raw.yuv -n", 6, "C63-OUTPUT-EXISTS"},
    {"enc v_32x32.yuv -o raw.yuv -y --no-overwrite", 6, "C63-OUTPUT-EXISTS"},
    {"enc v_32x32.yuv o.c63 -n --csv raw.yuv", 6, "C63-OUTPUT-EXISTS"},
    {"enc v_32x32.yuv o.c63 -n --log-file good.conf", 0, "", "o.c63"},
    {"enc v_32x32.yuv o.c63 -n", 0, "", "o.c63"},
    {"dec -n s.c63 raw.yuv", 6, "C63-OUTPUT-EXISTS"},
    {"gen -n -o raw.yuv", 6, "C63-OUTPUT-EXISTS"},
    // Names that say something else than what is written.
    {"enc v_32x32.yuv o.mp4", 2, "C63-OUTPUT-NAME"},
    {"enc v_32x32.yuv raw.yuv", 2, "C63-OUTPUT-OTHER"},
    {"enc v_32x32.yuv -o s.txt", 0, ""},
    {"enc v_32x32.yuv empty.yuv", 0, ""},
    {"enc v_32x32.yuv s.c63", 0, ""},
    {"enc v_32x32.yuv -o o.c63 two.c63", 2, "C63-USAGE"},
    {"dec s.c63 o.mp4", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 o.MKV", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 o.c63", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 o.png", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 %d_%d.ppm", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 %s.ppm", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 %.ppm", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 %99d.ppm", 2, "C63-OUTPUT-NAME"},
    {"dec s.c63 o.mp4 --output-format raw", 0, "", "o.mp4"},
    {"pred s.c63 one.ppm -f 1", 0, "", "one.ppm"},
};

class CommandLines : public ToolsTest {
 protected:
  void SetUp() override {
    const std::string video = generate({'B', 0, 32, 32, 6});
    write_file("raw.yuv", video);
    write_file("v_32x32.yuv", video);
    write_file("partial.yuv", video.substr(0, 5 * kFrame32 + 7));
    write_file("empty.yuv", "");
    write_file("s.txt", "1\n2\n");
    write_file("repeat.c63", "\xFF\xD8\xFF\xD9");
    std::filesystem::create_symlink("v_32x32.yuv", path("link.yuv"));
    std::filesystem::create_hard_link(path("v_32x32.yuv"), path("hard.yuv"));
    std::filesystem::create_directory(path("folder"));
    write_file("good.conf", "qp=20\n");
    write_file("s.c63", run({kEnc, "--quiet", path("v_32x32.yuv"), "-o", "-"}).out);
  }

  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) found.insert(entry.path().filename());
    return found;
  }
};

TEST_F(CommandLines, EndWithTheirCodeTheirIdAndNoOtherFile) {
  const std::set<std::string> before = names();
  const std::string video = read_file(path("raw.yuv"));
  const std::string stream = read_file(path("s.c63"));
  ASSERT_FALSE(stream.empty());
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.command);
    std::istringstream words(row.command);
    std::vector<std::string> command = {"/usr/bin/env", "-C", folder_.string()};
    std::string program;
    words >> program;
    command.push_back(C63_BIN_DIR "/c63" + program);
    for (std::string word; words >> word;) command.push_back(word);
    command.emplace_back("--quiet");
    const ProcessResult result = run(command, row.from.empty() ? std::string() : read_file(path(row.from)));
    if (row.id.empty()) {
      EXPECT_EQ(result.exit_code, row.exit_code) << result.err;
      EXPECT_EQ(result.err, "");
    } else {
      expect_one_line(result, row.exit_code, "c63" + program, row.id);
    }
    std::set<std::string> wanted = before;
    std::istringstream made(row.makes);
    for (std::string name; made >> name;) wanted.insert(name);
    const std::set<std::string> after = names();
    EXPECT_EQ(after, wanted);
    if (after.contains("o.c63") && row.command.find("partial") == std::string::npos && row.from.empty()) {
      EXPECT_TRUE(read_file(path("o.c63")) == stream) << "a whole stream";
    }
    for (const char* const name : {"p.yuv", "o.yuv"}) {
      EXPECT_TRUE(!after.contains(name) || read_file(path(name)).size() == video.size()) << name;
    }
    EXPECT_TRUE(read_file(path("raw.yuv")) == video && read_file(path("hard.yuv")) == video && read_file(path("s.c63")) == stream);
    for (const std::string& name : after) {
      if (!before.contains(name)) std::filesystem::remove(path(name));
    }
  }
}

TEST_F(CommandLines, OfAPartialFileGiveItsWholeFrames) {
  const std::string partial = read_file(path("partial.yuv"));
  const std::string whole = run({kEnc, "--quiet", "-w", "32", "-h", "32", "-f", "5", "-o", "-", path("raw.yuv")}).out;
  EXPECT_EQ(run({kEnc, "--quiet", "-w", "32", "-h", "32", "-o", "-", path("partial.yuv")}).out, whole);
  EXPECT_EQ(run({kEnc, "--quiet", "-w", "32", "-h", "32", "--strict", "-o", path("o.c63"), "-"}, partial).exit_code, 4);
  EXPECT_EQ(read_file(path("o.c63")), whole);
}

}  // namespace
}  // namespace c63::test
