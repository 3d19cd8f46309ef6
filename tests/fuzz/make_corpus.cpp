// Writes the seed corpus: small valid streams for fuzz_decode, small videos for fuzz_round_trip.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "c63/encoder.h"
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  for (const std::string target : {"fuzz_decode", "fuzz_round_trip"})
    fs::create_directories(fs::path(argv[1]) / target);
  write_streams(fs::path(argv[1]) / "fuzz_decode");
  write_videos(fs::path(argv[1]) / "fuzz_round_trip");
  return 0;
}
