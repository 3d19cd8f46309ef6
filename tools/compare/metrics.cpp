#include "compare/metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "c63/error.h"
#include "common/json.h"
#include "common/text.h"

namespace c63::tools {
namespace {

std::string size_of(const VideoFormat& f) { return fmt::format("{}x{}", f.width, f.height); }

/// Returns the plane and position of the byte at `offset` in a frame.
FirstDifference locate(std::size_t offset, const VideoFormat& format) {
  FirstDifference d;
  while (d.plane < 2 && offset >= plane_bytes(format.width, format.height, d.plane)) {
    offset -= plane_bytes(format.width, format.height, d.plane);
    ++d.plane;
  }
  const bool rectangular = d.plane == 0 || (format.width % 2 == 0 && format.height % 2 == 0);
  const auto width = static_cast<std::size_t>(d.plane == 0 ? format.width : format.width / 2);
  d.x = rectangular ? static_cast<int>(offset % width) : -1;
  d.y = rectangular ? static_cast<int>(offset / width) : -1;
  return d;
}

double weighted(const std::array<double, 3>& values, const std::array<std::uint64_t, 3>& weights) {
  double sum = 0;
  double weight = 0;
  for (int p = 0; p < 3; ++p) {
    if (std::isnan(values[p])) continue;
    sum += values[p] * static_cast<double>(weights[p]);
    weight += static_cast<double>(weights[p]);
  }
  return weight > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN();
}

Figures named_figures(const auto& psnr, const std::array<double, 4>& ssim) {
  return {{"psnr_y_db", psnr(0)}, {"psnr_u_db", psnr(1)}, {"psnr_v_db", psnr(2)}, {"psnr_all_db", psnr(3)},
          {"ssim_y", ssim[0]},    {"ssim_u", ssim[1]},    {"ssim_v", ssim[2]},    {"ssim_all", ssim[3]}};
}

[[noreturn]] void fail_count(const std::string& shorter, const std::string& longer, std::int64_t frames) {
  throw Error(ErrorKind::comparison, "C63-CMP-COUNT",
              fmt::format("{} ends after {}, but {} has more; frames are compared in order", shorter,
                          counted(frames, "frame"), longer));
}

}  // namespace

std::string to_string(const FirstDifference& d) {
  const std::string where = d.x < 0 ? "" : fmt::format(", x {}, y {}", d.x, d.y);
  return fmt::format("frame {}, plane {}{}: {} instead of {}", d.frame, "YUV"[d.plane], where, d.value, d.reference);
}

double ssim_db(double ssim) {
  return ssim >= 1 ? std::numeric_limits<double>::infinity() : -10 * std::log10(1 - ssim);
}

double VideoQuality::psnr_of(const FrameQuality& frame, int plane) const {
  if (plane < 3) return psnr(frame.sse[plane], samples[plane]);
  return psnr(std::accumulate(frame.sse.begin(), frame.sse.end(), std::uint64_t{0}),
              std::accumulate(samples.begin(), samples.end(), std::uint64_t{0}));
}

double VideoQuality::ssim_of_all(const FrameQuality& frame) const { return weighted(frame.ssim, samples); }

double VideoQuality::ssim_of_all() const {
  return weighted({totals.mean_ssim(0), totals.mean_ssim(1), totals.mean_ssim(2)}, samples);
}

double VideoQuality::psnr_of_video(int plane) const {
  return plane < 3 ? totals.psnr_of_plane(plane) : totals.psnr_of_all();
}

Figures figures_of(const VideoQuality& video, const FrameQuality& frame) {
  const auto psnr = [&](int plane) { return video.psnr_of(frame, plane); };
  return named_figures(psnr, {frame.ssim[0], frame.ssim[1], frame.ssim[2], video.ssim_of_all(frame)});
}

Figures figures_of(const VideoQuality& q) {
  const auto psnr = [&](int plane) { return q.psnr_of_video(plane); };
  return named_figures(psnr, {q.totals.mean_ssim(0), q.totals.mean_ssim(1), q.totals.mean_ssim(2), q.ssim_of_all()});
}

nlohmann::ordered_json figures_json(const Figures& figures) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : figures) json[name] = json_number(value);
  return json;
}

VideoQuality compare_videos(FrameSource& reference, const std::string& reference_name, FrameSource& other,
                            const std::string& other_name, const MetricOptions& options, const FramePairVisitor& visit,
                            const std::stop_token& stop) {
  VideoQuality result;
  result.format = reference.format();
  const VideoFormat& format = result.format;
  const VideoFormat other_format = other.format();
  if (format.width != other_format.width || format.height != other_format.height) {
    throw Error(ErrorKind::comparison, "C63-CMP-SIZE",
                fmt::format("{} is {}, {} is {}; c63cmp does not scale", reference_name, size_of(format), other_name,
                            size_of(other_format)));
  }
  // If both sources know how many frames they have, different numbers are found before the first frame is compared.
  const auto reference_count = reference.frame_count();
  const auto other_count = other.frame_count();
  if (reference_count && other_count && *reference_count != *other_count) {
    throw Error(ErrorKind::comparison, "C63-CMP-COUNT",
                fmt::format("{} has {}, but {} has {}; frames are compared in order", reference_name,
                            counted(*reference_count, "frame"), other_name, *other_count));
  }
  const VideoFormat compared = compared_format(format, other_format);
  result.samples = measured_samples(compared);

  std::vector<std::uint8_t> a(frame_bytes(format.width, format.height));
  std::vector<std::uint8_t> b(a.size());
  for (std::int64_t index = 0; !stop.stop_requested(); ++index) {
    const bool more_a = reference.read(index, a);
    const bool more_b = other.read(index, b);
    if (stop.stop_requested()) break;  // a source that waited has ended early
    if (more_a != more_b) more_a ? fail_count(other_name, reference_name, index) : fail_count(reference_name, other_name, index);
    if (!more_a) break;

    FrameQuality frame;
    frame.sse = sse_of_frames(a, b, compared);
    frame.identical = frame.sse == std::array<std::uint64_t, 3>{};
    frame.ssim.fill(std::numeric_limits<double>::quiet_NaN());
    if (options.ssim) {
      frame.ssim = ssim_of_frames(a, b, compared);
      result.totals.add_ssim(frame.ssim);
    }
    result.totals.add(frame.sse, result.samples);
    if (!frame.identical) {
      ++result.different_frames;
      if (!result.first_difference) {
        const auto offset = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
        result.first_difference = locate(offset, format);
        result.first_difference->frame = index;
        result.first_difference->reference = a[offset];
        result.first_difference->value = b[offset];
      }
    }
    if (const double all = result.psnr_of(frame, 3); index == 0 || all < result.lowest_psnr) {
      result.lowest_psnr = all;
      result.lowest_at = index;
    }
    ++result.frame_count;
    if (options.keep_frames) result.frames.push_back(frame);
    if (visit) visit(index, frame, result, a, b);
    if (options.stop_at_difference && result.first_difference) break;
  }
  if (result.frame_count == 0 && !stop.stop_requested()) {
    throw Error(ErrorKind::input, "C63-NO-FRAMES", "the input has no whole frame to compare", {.file = reference_name});
  }
  return result;
}

}  // namespace c63::tools
