// c63bench: measures parts of c63. Figures go to stdout, and with --json to a file.

#include <exception>
#include <iostream>

#include "bench/registry.h"
#include "c63/error.h"

int main(int argc, char** argv) {
  CLI::App app("Measures parts of c63.", "c63bench");
  app.require_subcommand(1);
  for (const c63::bench::AddSubcommand add : c63::bench::subcommands()) add(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const c63::Error& error) {
    std::cerr << "c63bench: " << error.what() << '\n';
    return error.kind() == c63::ErrorKind::device ? 8 : 1;
  } catch (const std::exception& error) {
    std::cerr << "c63bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
