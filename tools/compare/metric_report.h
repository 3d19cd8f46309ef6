#pragma once

#include <cstdint>
#include <string>

#include "common/outputs.h"
#include "compare/metrics.h"

namespace c63::tools {

/// A video, and how it differs from the reference.
struct ComparedVideo {
  std::string name;
  VideoQuality quality;
};

/// Returns the lines to print, with the same figures as FFmpeg's psnr and ssim filters.
[[nodiscard]] std::string metric_text(const ComparedVideo& video, bool with_ssim);

/// CSV with a row per frame and video, written while videos are compared.
class MetricCsv {
 public:
  MetricCsv(const std::string& path, Durability durability);
  void add(const std::string& video, std::int64_t index, const FrameQuality& frame, const VideoQuality& quality);
  void commit() { file_.commit(); }

 private:
  TextFile file_;
};

/// JSON with all figures, written while videos are compared. Each video's frames come before its sums. Infinite and
/// missing figures are null.
class MetricJson {
 public:
  MetricJson(const std::string& path, const std::string& reference, Durability durability);
  void begin(const std::string& video);
  void add(const FrameQuality& frame, const VideoQuality& quality);
  void end(const VideoQuality& quality);
  void commit();

 private:
  TextFile file_;
  bool first_video_ = true;
  bool first_frame_ = true;
};

}  // namespace c63::tools
