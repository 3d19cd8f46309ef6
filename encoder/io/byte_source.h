#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "c63/decoder.h"
#include "io/input_file.h"

namespace c63 {

/// Opens a coded stream: a file, a pipe or, for "-", stdin. Throws Error (input). If a stop is requested while a pipe
/// is waited for, the stream ends at this point.
[[nodiscard]] std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop = {});
/// Makes a source of an input of which nothing has been read yet.
[[nodiscard]] std::unique_ptr<ByteSource> make_byte_source(std::unique_ptr<InputFile> file);

}  // namespace c63
