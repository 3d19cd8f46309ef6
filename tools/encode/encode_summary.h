#pragma once

#include <cstdint>
#include <optional>

#include "common/command_line.h"
#include "common/report.h"
#include "encode/encode_options.h"

namespace c63::tools {

/// Prints what came of an encode: the result line, with -v what limited it.
/// `frame_count`: frames of the input, if known. `stopped_search`: the stream is the best pass before a stop request.
void tell_result(const Session& session, const EncodeOptions& options, const EncodeReport& report,
                 std::optional<std::int64_t> frame_count, bool stopped_search);

}  // namespace c63::tools
