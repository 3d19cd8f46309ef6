// Gives any bytes to a program as a --config file. The file must be accepted or give one Error, and the program must
// not crash.

#include <CLI/App.hpp>
#include <string>

#include "c63/error.h"
#include "common/command_line.h"
#include "decode/decode_program.h"
#include "encode/encode_options.h"
#include "fuzz_support.h"

namespace {

template <typename Options>
void parse(const std::string& file) {
  Options options;
  CLI::App app("fuzz", "c63");
  app.set_help_flag("--help", "");  // -h is the height
  c63::tools::CommonSettings common;
  c63::tools::add_options(app, options);
  c63::tools::add_common_options(app, common, "c63");
  std::string program = "c63", option = "--config", name = file;
  char* arguments[] = {program.data(), option.data(), name.data(), nullptr};
  try {
    static_cast<void>(c63::tools::parse_command_line(app, 3, arguments));
  } catch (const c63::Error& error) {
    c63::fuzz::require(error.kind() == c63::ErrorKind::usage || error.kind() == c63::ErrorKind::input);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const c63::fuzz::NamedBytes file({data, size}, c63::fuzz::NamedBytes::Kind::file);
  parse<c63::tools::EncodeOptions>(file.name());
  parse<c63::tools::DecodeOptions>(file.name());
  return 0;
}
