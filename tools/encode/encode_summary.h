#pragma once

#include <cstdint>
#include <optional>

#include "common/command_line.h"
#include "common/report.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// Logs the results of an encode. With -v, also logs the settings and where the time went. `frame_count`: frames of the
/// input, if known. `stopped_search`: a stop request ended the search for a target, and the stream is the best pass
/// before it.
void tell_result(const Session& session, const EncodeOptions& options, const EncodeReport& report,
                 std::optional<std::int64_t> frame_count, bool stopped_search);

}  // namespace c63::tools
