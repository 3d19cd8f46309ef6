#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "c63/frame_source.h"
#include "common/command_line.h"
#include "common/report.h"
#include "encode/encode_options.h"
#include "segments/segment_plan.h"

namespace c63::tools {

/// Completes the options of a c63enc command line. Throws Error (usage) if options exclude each other, or if two of the
/// files are the same.
void settle_encode(EncodeOptions& options, const CommonSettings& common);

/// The frames to encode, and the memory that reading them takes, as a part of --max-memory.
struct EncodeSource {
  std::unique_ptr<FrameSource> frames;
  std::uint64_t bytes = 0;
};

/// Opens the input, with the frames and the prefilter that the options name. If the input fails after a stop request,
/// the video ends normally: the signal may also have ended the program that writes to the input pipe, in the middle of
/// a frame. Throws Error.
[[nodiscard]] EncodeSource open_encode_source(const EncodeOptions& options, std::stop_token stop,
                                              const std::function<void(const std::string&)>& warn);

/// Makes the plan of the video that `source` reads, of which segments are encoded. Reads all of it if that is necessary.
[[nodiscard]] SegmentPlan plan_input(const Session& session, const EncodeOptions& options, FrameSource& source);

/// Logs the results of an encode. With -v, also logs the settings and where the time went. `frame_count`: frames of the
/// input, if known. `stopped_search`: a stop request ended the search for a target, and the stream is the best pass
/// before it.
void log_result(const Session& session, const EncodeOptions& options, const EncodeReport& report,
                std::optional<std::int64_t> frame_count, bool stopped_search);

/// Does what the options of c63enc say. Returns the exit code. Throws Error.
[[nodiscard]] int run_encode(const Session& session, EncodeOptions options);

}  // namespace c63::tools
