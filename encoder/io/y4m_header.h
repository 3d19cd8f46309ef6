#pragma once

#include <string>
#include <string_view>

#include "c63/picture.h"

namespace c63 {

/// The first line of a Y4M file.
struct Y4mHeader {
  VideoFormat format;
  std::string chroma = "420jpeg";  ///< the C parameter: layout and depth of the samples
};

/// Parses the line, which must not include its newline. Throws Error (input, C63-Y4M-HEADER) with the offset of the bad
/// parameter.
[[nodiscard]] Y4mHeader parse_y4m_header(std::string_view line, const std::string& file);

}  // namespace c63
