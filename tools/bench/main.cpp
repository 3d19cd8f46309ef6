// c63bench: measures parts of c63. Figures go to stdout, and with --json to a file.

#include <exception>
#include <iostream>
#include <new>

#include "bench/registry.h"
#include "c63/error.h"
#include "common/exit_code.h"

int main(int argc, char** argv) {
  CLI::App app("Measures parts of c63.", "c63bench");
  app.require_subcommand(1);
  for (const c63::bench::AddSubcommand add : c63::bench::subcommands()) add(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? c63::tools::kExitDone : c63::tools::kExitUsage;
  } catch (const c63::Error& error) {
    std::cerr << "c63bench: " << error.what() << '\n';
    return c63::tools::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    std::cerr << "c63bench: out of memory\n";
    return c63::tools::kExitMemory;
  } catch (const std::exception& error) {
    std::cerr << "c63bench: " << error.what() << '\n';
    return c63::tools::kExitInternal;
  }
  return c63::tools::kExitDone;
}
