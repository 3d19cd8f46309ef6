#pragma once

#include <CLI/Config.hpp>
#include <istream>
#include <optional>
#include <vector>

#include "c63/error.h"

namespace CLI {
class App;
}

namespace c63::tools {

/// Reads the file of --config and remembers which line sets which option.
class ConfigFile final : public CLI::ConfigTOML {
 public:
  /// Throws Error (input, C63-CONFIG-READ) if reading fails. CLI11 would treat the failure as the end of the file.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  /// If the file caused `error`, returns an error that says what is wrong, with the file's name and line.
  [[nodiscard]] std::optional<Error> fault(const CLI::App& app, const CLI::ParseError& error) const;

 private:
  struct Setting {
    CLI::ConfigItem item;
    int line = 0;
  };

  mutable std::vector<Setting> settings_;  // mutable, because CLI11 calls from_config() on a const object
};

}  // namespace c63::tools
