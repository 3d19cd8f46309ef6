#pragma once

#include <string>

namespace c63 {

// FFmpeg's log is one for the process: several sources at a time share what it says.

/// From now on FFmpeg's log goes nowhere but into the functions below, which forget what came before.
void capture_av_log();

/// The last line that FFmpeg logged as an error, without newline; empty for none.
[[nodiscard]] std::string last_av_error();

/// Whether a line told that a track lies in another file, which FFmpeg did not open.
[[nodiscard]] bool av_wants_other_files();

/// Whether a thread of FFmpeg's had, when it logged anything, run out of memory: its decoders do not pass that on.
[[nodiscard]] bool av_ran_out_of_memory();

}  // namespace c63
