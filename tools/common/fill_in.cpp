#include "common/fill_in.h"

namespace c63::tools {

std::string fill_in(std::string_view text, char open, char close, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == open ? text.find(close, at + 1) : std::string_view::npos;
    const auto found =
        end == std::string_view::npos ? values.end() : values.find(std::string(text.substr(at + 1, end - at - 1)));
    if (found == values.end()) {
      out += text[at++];
    } else {
      out += found->second;
      at = end + 1;
    }
  }
  return out;
}

}  // namespace c63::tools
