#include "target_passes.h"

#include <array>
#include <cstdint>

#include "c63/picture.h"

namespace c63::python {

namespace py = pybind11;

void PassTotals::add(const EncodedFrame& frame, const CodingSettings& coding) {
  std::array<std::uint64_t, 3> samples{};
  for (int p = 0; p < 3; ++p) samples[static_cast<std::size_t>(p)] = plane_bytes(coding.width, coding.height, p);
  quality.add(frame.statistics.sse, samples);
  quality.add_ssim(frame.statistics.ssim);
  if (frame.key) key_bytes += frame.bytes.size();
}

TargetPasses::TargetPasses(const CodingSettings& coding, const TargetRequest& request, double frames_per_s)
    : frames_per_s_(request.frames_per_s.value_or(frames_per_s)), search_(coding, request.target) {}

bool TargetPasses::add(const EncodeSummary& summary, const PassTotals& totals) {
  const PassFigures figures{.frames = summary.frames,
                            .bytes = summary.bytes,
                            .frames_per_s = frames_per_s_,
                            .psnr_y_db = totals.quality.psnr_of_plane(0),
                            .psnr_all_db = totals.quality.psnr_of_all(),
                            .ssim_y = totals.quality.mean_ssim(0),
                            .key_bytes = totals.key_bytes};
  return search_.add(figures);
}

py::dict TargetPasses::summary() const {
  using namespace py::literals;
  py::list passes;
  for (const TargetPass& pass : search_.passes()) {
    const PassFigures& f = pass.figures;
    passes.append(py::dict("qp"_a = pass.qp, "lambda_scale"_a = pass.lambda_scale, "bytes"_a = f.bytes,
                           "psnr_y"_a = f.psnr_y_db, "psnr_all"_a = f.psnr_all_db, "ssim_y"_a = f.ssim_y));
  }
  return py::dict("met"_a = search_.met(), "distance"_a = search_.distance(), "passes"_a = passes);
}

}  // namespace c63::python
