#include "ffmpeg/av_presentation.h"

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/display.h>
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace c63 {
namespace {

/// Returns the nine numbers of the display matrix, with which a container asks for rotation or mirroring. Null if there
/// is none.
const std::uint8_t* display_matrix(const AVStream& stream) {
  constexpr std::size_t kBytes = 9 * sizeof(std::int32_t);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 29, 100)
  const AVPacketSideData* data = av_packet_side_data_get(
      stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return data != nullptr && data->size >= kBytes ? data->data : nullptr;
#else
  std::size_t size = 0;
  const std::uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return size >= kBytes ? data : nullptr;
#endif
}

}  // namespace

std::optional<std::string> turned_warning(const AVStream& stream) {
  const std::uint8_t* data = display_matrix(stream);
  if (data == nullptr) return std::nullopt;
  std::int32_t matrix[9];
  std::memcpy(matrix, data, sizeof matrix);
  const double counterclockwise = av_display_rotation_get(matrix);
  const bool mirrored = static_cast<double>(matrix[0]) * matrix[4] < static_cast<double>(matrix[1]) * matrix[3];
  if (std::isnan(counterclockwise)) return std::nullopt;
  const long degrees = std::lround(360 - counterclockwise) % 360;
  if (degrees == 0 && !mirrored) return std::nullopt;
  std::string what = mirrored ? "mirrored" : "";
  if (degrees != 0) what += (mirrored ? " and turned " : "turned ") + std::to_string(degrees) + " degrees clockwise";
  return "should be shown " + what + "; this is not applied (ffmpeg -i applies it)";
}

void FrameTimes::add_packet(std::int64_t mark, std::int64_t time) {
  constexpr std::size_t kMost = 256;  // no decoder delays as many frames
  if (time == AV_NOPTS_VALUE) return;
  times_[mark] = time;
  if (times_.size() > kMost) times_.erase(times_.begin());
}

std::optional<std::string> FrameTimes::add_frame(std::int64_t mark, std::int64_t index, FrameRate rate) {
  const auto found = times_.find(mark);
  time_.reset();
  if (found == times_.end()) return std::nullopt;
  const std::int64_t time = found->second;
  times_.erase(found);
  time_ = unit_ * static_cast<double>(time);
  if (told_) return std::nullopt;
  std::int64_t interval = 0;
  if (last_ && __builtin_sub_overflow(time, *last_, &interval)) return std::nullopt;
  const bool first = !last_;
  last_ = time;
  if (first) return std::nullopt;
  if (!interval_) interval_ = interval;
  // Containers round times to their time unit, so small differences are not reported.
  const double usual = static_cast<double>(*interval_);
  const double difference = std::abs(static_cast<double>(interval) - usual);
  if (difference <= 2 || difference <= std::abs(usual) / 4) return std::nullopt;
  told_ = true;
  char text[160];
  std::snprintf(text, sizeof text,
                "frame times are uneven (frame %lld lasts %.4g ms, earlier ones %.4g): coded at a constant %.6g "
                "fps",
                static_cast<long long>(index - 1), 1000 * unit_ * static_cast<double>(interval), 1000 * unit_ * usual,
                rate.value());
  return std::string(text) + "; use ffmpeg -r to make them even, or --fps to accept them";
}

}  // namespace c63
