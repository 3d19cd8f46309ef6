#pragma once

#include <string>
#include <vector>

namespace c63::tools {

/// One side of an A/B comparison: options of c63enc, or the whole command of another encoder.
struct Configuration {
  std::string name;
  std::string text;                     ///< as the user gave it
  bool external = false;                ///< command of another encoder
  std::vector<std::string> quantizers;  ///< its points; one empty string if it has no quantizer to vary
  /// of another encoder, as it prints it; empty: an encoder that is not known to print one
  std::string version = {};
};

/// Understands one side. Text that is empty or starts with "-" is options of c63enc; so is text that starts with the
/// word c63enc. Anything else is a command for /bin/sh in which these are filled in: {in} raw 4:2:0 input, {out} the
/// file to write, {qp}, {w}, {h}, {fps}, {frames}. Without {in} the input is its standard input, without {out} its
/// standard output is the result. {qp:18,24,30} gives the side its own points instead of `quantizers`. Throws Error
/// (usage).
[[nodiscard]] Configuration parse_configuration(const std::string& name, const std::string& text,
                                                const std::vector<std::string>& quantizers);

/// Returns the command that asks the encoder of an external side for its version: "x264 --version". Empty if the
/// program may not understand it.
[[nodiscard]] std::string version_question(const std::string& command);

/// Splits "5,10,15". Throws Error (usage) for an empty part.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

/// Returns true if c63enc's options contain a quantizer, or a target that finds one.
[[nodiscard]] bool names_quantizer(const std::string& options);

}  // namespace c63::tools
