#pragma once

#include <string>

namespace c63 {

/// From now on FFmpeg's log goes nowhere but into last_av_error(), which this clears. The log is one for the process.
void capture_av_log();

/// The last line that FFmpeg logged as an error, without newline; empty for none.
[[nodiscard]] std::string last_av_error();

}  // namespace c63
