// Writes the corpora: the valid inputs from which fuzzing starts, such as small streams and small videos.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "c63/encoder.h"
#include "io/movie_builder.h"
#include "support/compact_stream.h"
#include "support/generators.h"
#include "support/stream_editor.h"

namespace {

using c63::test::Bytes;
namespace fs = std::filesystem;

void write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

Bytes coded(const Bytes& video, int width, int height, int qp, int key_interval) {
  c63::EncoderSettings settings{.coding = {.width = width, .height = height, .qp = static_cast<double>(qp)}};
  settings.coding.key_interval = key_interval;
  return c63::encode(video, settings);
}

void write_streams(const fs::path& folder) {
  using namespace c63::test;
  write_file(folder / "empty_mcu", ScanBuilder().empty_blocks().frame(16, 16, true));
  write_file(folder / "flat", coded(Bytes(2 * c63::frame_bytes(16, 16), 90), 16, 16, 25, 100));
  write_file(folder / "moving", coded(moving_video(48, 32, 3), 48, 32, 25, 100));
  write_file(folder / "gops", coded(moving_video(16, 16, 5), 16, 16, 12, 2));
  write_file(folder / "sheared", coded(generate_a(20, 6, 3), 20, 6, 25, 100));
  write_file(folder / "extreme", coded(extreme_video(16, 16, 2), 16, 16, 40, 100));
  StreamEditor odd(coded(moving_video(32, 16, 3), 32, 16, 25, 100));
  odd.set_u16(0, layout::kDqtLength, 197);
  odd.insert(1, layout::kSof, {0x00});
  odd.cut(2, layout::kDqt, layout::kSof - layout::kDqt);
  write_file(folder / "tolerated", odd.bytes());

  for (const std::uint64_t seed : {1, 2, 3}) {
    CompactStreamWriter any(32, 16, seed);
    any.add_any(12, 5);
    write_file(folder / ("compact_" + std::to_string(seed)), any.bytes());
  }
  CompactStreamWriter sheared(20, 6, 4);
  sheared.add_any(8, 8);
  write_file(folder / "compact_sheared", sheared.bytes());
  CompactStreamWriter replaced(16, 16, 5);
  replaced.add_key();
  replaced.add_inter();
  for (int i = 0; i < 3; ++i) replaced.add_replacing();
  replaced.add_repeat();
  replaced.add_replacing();
  replaced.add_inter();
  write_file(folder / "replaced", replaced.bytes());
  CompactStreamWriter repeats(16, 16, 6);
  repeats.add_key();
  for (int i = 0; i < 100; ++i) repeats.add_repeat();
  repeats.add_inter();
  write_file(folder / "repeats", repeats.bytes());
}

/// Writes inputs for fuzz_device_decode: single scans, each after the byte that gives size and kind of the frame, and
/// whole streams.
void write_scans(const fs::path& folder) {
  for (int kind = 0; kind < 32; kind += 3) {
    const c63::Geometry geometry(16 * (1 + (kind & 3)), 16 * (1 + (kind >> 2 & 3)));
    Bytes scan{static_cast<std::uint8_t>(kind)};
    c63::BitCounts bits;
    c63::encode_scan(c63::test::random_syntax(geometry, (kind & 16) != 0, 1 + static_cast<std::uint32_t>(kind) % 7, 1 + kind * kind, 1 + static_cast<std::uint64_t>(kind)),
                     scan, bits);
    write_file(folder / ("scan_" + std::to_string(kind)), scan);
  }
  write_streams(folder);
}

void write_videos(const fs::path& folder) {
  const auto put = [&](const std::string& name, Bytes head, const Bytes& video) {
    head.insert(head.end(), video.begin(), video.end());
    write_file(folder / name, head);
  };
  put("flat", {15, 15, 20, 3, 15, 0}, Bytes(1, 128));
  put("moving", {31, 31, 20, 1, 15, 1}, c63::test::moving_video(32, 32, 3));
  put("noise", {7, 17, 0, 2, 7, 2}, c63::test::random_video(8, 18, 2));
  put("extreme", {15, 15, 45, 3, 23, 3}, c63::test::extreme_video(16, 16, 3));
  put("sheared", {19, 5, 20, 3, 15, 4}, c63::test::generate_a(20, 6, 3));
}

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// Returns `head`, then `text`.
Bytes with_head(Bytes head, const std::string& text) {
  head.insert(head.end(), text.begin(), text.end());
  return head;
}

void write_sources(const fs::path& folder) {
  const std::string frame(16 * 16 * 3 / 2, 'f');
  const std::string header = "YUV4MPEG2 W16 H16 F25:1 Ip A0:0 C420jpeg\n";
  write_file(folder / "y4m", with_head({0, 0, 0}, header + "FRAME\n" + frame + "FRAME Ip\n" + frame));
  write_file(folder / "y4m_cut", with_head({1, 0, 0}, header + "FRAME\n" + frame.substr(0, 100)));
  write_file(folder / "y4m_odd", with_head({4, 4, 4}, "YUV4MPEG2 W3 H3 C444p10\nFRAME\n" + std::string(54, 'x')));
  write_file(folder / "raw", with_head({2, 16, 16}, frame + frame));
  write_file(folder / "raw_cut", with_head({3, 16, 16}, frame + "cut"));
}

void write_av(const fs::path& folder) {
  const std::string picture(16 * 16 * 3, 'p');
  write_file(folder / "ppm", with_head({0}, "P6\n16 16\n255\n" + picture));
  write_file(folder / "movie", with_head({2}, c63::test::movie_of({picture, "short", picture})));
  write_file(folder / "movie_tolerant", with_head({1}, c63::test::movie_of({picture, "short", picture})));
  write_file(folder / "elsewhere", with_head({0}, c63::test::movie_with_data_elsewhere("disk:/none")));
  write_file(folder / "playlist", with_head({0}, "#EXTM3U\n#EXTINF:1,\nnone.ts\n"));
}

void write_signals(const fs::path& folder) {
  write_file(folder / "text", with_head({1}, "1\n-2.5e3\n+0.125\n"));
  write_file(folder / "npy", with_head({2}, std::string("\x93NUMPY\x01\0\x36\0", 10) +
                                               "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), } \n" + "abc"));
  write_file(folder / "f32", with_head({4}, std::string(8, '\0')));
}

void write_configs(const fs::path& folder) {
  write_file(folder / "plain", bytes_of("qp=30\nkeyint = 12\n# comment\nme=\"zero\"\n"));
  write_file(folder / "section", bytes_of("[c63]\nssim=true\nmax-memory=1GiB\nfps=30000/1001\n"));
  write_file(folder / "wrong", bytes_of("no-such-option=1\nqp=x\n"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  const std::pair<const char*, void (*)(const fs::path&)> corpora[] = {
      {"fuzz_decode", write_streams},        {"fuzz_device_decode", write_scans},
      {"fuzz_round_trip", write_videos},     {"fuzz_sources", write_sources},
      {"fuzz_av", write_av},
      {"fuzz_signals", write_signals},       {"fuzz_config", write_configs},
  };
  for (const auto& [target, write] : corpora) {
    fs::create_directories(fs::path(argv[1]) / target);
    write(fs::path(argv[1]) / target);
  }
  return 0;
}
