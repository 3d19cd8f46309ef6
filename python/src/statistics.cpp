#include "statistics.h"

namespace c63::python {
namespace {

namespace py = pybind11;

/// A row of the array of statistics, aligned as in C.
struct Row {
  std::int64_t index;
  std::uint64_t bytes;
  std::uint64_t sse[3];
  double ssim[3];
  std::uint64_t luma_sad;
  std::uint64_t bits[4];
  double milliseconds[8];
  double latency_ms;
  double ahead_ms[2];
  std::uint8_t key;
  std::uint8_t repeat;
};

}  // namespace

std::string row_of(const EncodedFrame& frame) {
  const FrameStatistics& s = frame.statistics;
  const StageTimes& t = s.times;
  const Row row{frame.index,
                frame.bytes.size(),
                {s.sse[0], s.sse[1], s.sse[2]},
                {s.ssim[0], s.ssim[1], s.ssim[2]},
                s.luma_sad,
                {s.bits.header, s.bits.motion, s.bits.luma, s.bits.chroma},
                {t.read, t.upload, t.motion, t.transform, t.measure, t.entropy, t.download, t.write},
                s.latency_ms,
                {t.lookahead, t.filter},
                static_cast<std::uint8_t>(frame.key),
                static_cast<std::uint8_t>(frame.repeat)};
  return {reinterpret_cast<const char*>(&row), sizeof row};
}

py::list row_fields() {
  py::list fields;
  const auto add = [&](const char* name, const char* type) { fields.append(py::make_tuple(name, type)); };
  add("index", "i8");
  add("bytes", "u8");
  fields.append(py::make_tuple("sse", "u8", 3));
  fields.append(py::make_tuple("ssim", "f8", 3));
  add("luma_sad", "u8");
  for (const char* const name : {"header_bits", "motion_bits", "luma_bits", "chroma_bits"}) add(name, "u8");
  for (const char* const name : {"read_ms", "upload_ms", "motion_ms", "transform_ms", "measure_ms", "entropy_ms",
                                 "download_ms", "write_ms", "latency_ms", "lookahead_ms", "filter_ms"}) {
    add(name, "f8");
  }
  add("key", "?");
  add("repeat", "?");
  return fields;
}

py::dict dict_of(const EncodeSummary& summary) {
  using namespace py::literals;
  return py::dict("frames"_a = summary.frames, "key_frames"_a = summary.key_frames, "bytes"_a = summary.bytes,
                  "start_up_ms"_a = summary.start_up_ms, "elapsed_ms"_a = summary.elapsed_ms, "lanes"_a = summary.lanes,
                  "backend"_a = summary.backend, "stopped"_a = summary.stopped, "target"_a = py::none());
}

}  // namespace c63::python
