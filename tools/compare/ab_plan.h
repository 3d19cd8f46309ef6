#pragma once

#include <string>
#include <vector>

namespace c63::tools {

/// One side of an A/B comparison: options of c63enc, or the whole command of an encoder.
struct Configuration {
  std::string name;
  std::string text;                     ///< as the user gave it, without the name of a c63enc, and with {qp} for {qp:…}
  bool external = false;                ///< true: a whole command
  std::vector<std::string> quantizers;  ///< the quantizers to measure; one empty string if the side has none to vary
  std::string program = {};  ///< the c63enc that the options are for; empty: that of AbOptions
  /// the version that another encoder prints for itself; empty: not known
  std::string version = {};
};

/// Parses one side. Text that is empty or begins with "-" is options of c63enc. A c63enc, with or without a folder, and its
/// options are options of that program, unless there is {in} or {out}. Any other text is a command for /bin/sh, in which these are replaced: {in} raw 4:2:0 input, {out} the file to write, {qp}, {w}, {h},
/// {fps}, {frames}. Without {in} the command reads standard input; without {out} it writes the stream to standard
/// output. {qp:18,24,30} gives this side its own quantizers in place of `quantizers`. A command without {qp}, and options
/// that set a quantizer or a target, are measured once. Throws Error (usage).
[[nodiscard]] Configuration parse_configuration(const std::string& name, const std::string& text,
                                                const std::vector<std::string>& quantizers);

/// Returns the command that prints the version of an external encoder, such as "x264 --version". Empty if we do not
/// know that the program has such an option.
[[nodiscard]] std::string version_question(const std::string& command);

/// Splits a list such as "5,10,15". Throws Error (usage) for an empty part.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

/// Returns true if options of c63enc set a quantizer, or a target from which it is found.
[[nodiscard]] bool names_quantizer(const std::string& options);

}  // namespace c63::tools
