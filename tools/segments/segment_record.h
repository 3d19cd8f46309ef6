#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "c63/encoder.h"
#include "common/digest.h"
#include "common/report.h"
#include "io/output_file.h"
#include "pipeline/segment_plan.h"
#include "segments/input_identity.h"

namespace c63::tools {

/// What all segments of one video have in common.
struct SegmentedVideo {
  InputIdentity input;
  nlohmann::ordered_json settings;  ///< all that changes bytes (settings_of_record())
  SegmentPlan plan;
  FrameRate rate = {};  ///< of the input; changes no byte
};

constexpr int kMostSegments = 1'000'000;

/// What is known of a coded segment besides its bytes: the file beside it.
struct SegmentRecord {
  struct KeyFrame {
    std::int64_t frame = 0;    ///< in the video
    std::uint64_t offset = 0;  ///< in the segment's stream
  };

  Segment segment;
  std::int64_t video_frames = 0;
  InputIdentity input;
  std::optional<FrameRate> rate = {};  ///< of the input; records of older versions have none
  nlohmann::ordered_json settings;
  std::uint64_t bytes = 0;
  std::string sha256;  ///< of the stream
  std::vector<KeyFrame> key_frames;
  std::optional<std::array<std::uint64_t, 3>> squared_errors = {};  ///< where PSNR was measured
  std::optional<std::array<double, 3>> mean_ssim = {};              ///< where SSIM was
};

[[nodiscard]] nlohmann::ordered_json to_json(const SegmentRecord& record);
/// Throws what is no Error for JSON that is no record.
[[nodiscard]] SegmentRecord record_from(const nlohmann::ordered_json& json);

/// The name of the record beside a stream, which is also its sidecar.
[[nodiscard]] std::string record_path(const std::string& stream);

/// Throws Error (input): C63-SEGMENT-NO-RECORD where there is none, C63-SEGMENT-RECORD for what is none.
[[nodiscard]] SegmentRecord read_record(const std::string& stream);
void write_record(const std::string& stream, const SegmentRecord& record, Durability durability);

/// Throws Error (input, C63-SEGMENT-DAMAGED) where the stream is not the one that the record is of.
void check_stream(const std::string& stream, const SegmentRecord& record);

/// The record of a segment that is there already, of this video, whole and measured as `wanted`; nothing where it has to be
/// coded, and then `reason` says why. An input that was modified since counts as another one.
[[nodiscard]] std::optional<SegmentRecord> find_whole_segment(const std::string& stream, const SegmentedVideo& video,
                                                              const Segment& segment, const MeasurementSettings& wanted,
                                                              std::string& reason);

/// Makes the record of a segment while its frames leave the encoder.
class SegmentRecorder {
 public:
  SegmentRecorder(const SegmentedVideo& video, const Segment& segment);

  /// The next frame; its index is the video's.
  void add(const EncodedFrame& frame, const EncoderSettings& settings);
  /// Throws Error (input, C63-SEGMENT-SHORT) where frames are missing: the input ended before the plan's end.
  [[nodiscard]] SegmentRecord finish();

 private:
  SegmentRecord record_;
  Sha256 sum_;
  std::int64_t frames_ = 0;
  std::array<std::uint64_t, 3> squared_errors_{};
  std::array<double, 3> ssim_{};
  MeasurementSettings measured_;
};

}  // namespace c63::tools
