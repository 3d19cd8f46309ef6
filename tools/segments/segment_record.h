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
#include "files/output_file.h"
#include "segments/segment_plan.h"

namespace c63::tools {

/// Identifies an input file without reading all of it.
struct InputIdentity {
  std::uint64_t bytes = 0;
  std::string sample_sha256;     ///< of 64 pieces of 4 KiB, evenly spread, including the first and the last bytes
  std::int64_t modified_ns = 0;  ///< time of the last change, in ns since 1970; copies of a file may differ
};

/// Returns true if two files hold the same video, as far as size and sample tell.
[[nodiscard]] bool same_content(const InputIdentity& a, const InputIdentity& b);

/// Throws Error (usage, C63-SEGMENT-INPUT) for a pipe or device, and Error (input) if reading fails.
[[nodiscard]] InputIdentity identify_input(const std::string& path);

/// What is equal for all segments of one video.
struct SegmentedVideo {
  InputIdentity input;
  nlohmann::ordered_json settings;  ///< all options that change bytes (settings_of_record())
  SegmentPlan plan;
};

constexpr int kMostSegments = 1'000'000;

/// The record of a coded segment, kept in a JSON file next to its stream.
struct SegmentRecord {
  struct KeyFrame {
    std::int64_t frame = 0;    ///< number in the whole video
    std::uint64_t offset = 0;  ///< byte offset in the segment's stream
  };

  Segment segment;
  std::int64_t video_frames = 0;
  InputIdentity input;
  nlohmann::ordered_json settings;
  std::uint64_t bytes = 0;
  std::string sha256;  ///< of the segment's stream
  std::vector<KeyFrame> key_frames;
  std::optional<std::array<std::uint64_t, 3>> squared_errors = {};  ///< per plane; empty if PSNR was not measured
  std::optional<std::array<double, 3>> mean_ssim = {};              ///< per plane; empty if SSIM was not measured
};

[[nodiscard]] nlohmann::ordered_json to_json(const SegmentRecord& record);
/// Throws an exception that is not an Error if the JSON is not a record.
[[nodiscard]] SegmentRecord record_from(const nlohmann::ordered_json& json);

/// Returns the name of the record next to a stream.
[[nodiscard]] std::string record_path(const std::string& stream);

/// Throws Error (input): C63-SEGMENT-NO-RECORD if there is no record, C63-SEGMENT-RECORD if the file is not a record.
[[nodiscard]] SegmentRecord read_record(const std::string& stream);
void write_record(const std::string& stream, const SegmentRecord& record, Durability durability);

/// Throws Error (input, C63-SEGMENT-DAMAGED) if the stream is not the one that the record describes.
void check_stream(const std::string& stream, const SegmentRecord& record);

/// Returns the record of a segment that has been coded before, if it is complete, of this video, and measured as
/// `wanted`. Returns nothing if the segment must be coded; `reason` then says why. The segment must be coded if the
/// input file was modified after the record was made.
[[nodiscard]] std::optional<SegmentRecord> find_whole_segment(const std::string& stream, const SegmentedVideo& video,
                                                              const Segment& segment, const MeasurementSettings& wanted,
                                                              std::string& reason);

/// Makes the record of a segment from the frames that the encoder delivers.
class SegmentRecorder {
 public:
  SegmentRecorder(const SegmentedVideo& video, const Segment& segment);

  /// Adds the next frame. Its index is its number in the whole video, not in the segment.
  void add(const EncodedFrame& frame, const EncoderSettings& settings);
  /// Returns the record. Throws Error (input, C63-SEGMENT-SHORT) if frames are missing, because the input was shorter
  /// than the plan says.
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
