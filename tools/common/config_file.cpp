#include "common/config_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <sstream>

#include "io/descriptor.h"

namespace c63::tools {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Maps each name that the file sets to the number of the last line that sets it. A name in a section is written
/// "section.name".
std::map<std::string, int> lines_by_name(const std::string& text) {
  std::map<std::string, int> lines;
  std::istringstream stream(text);
  std::string section;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      section = trimmed(line.substr(1, line.find(']') - 1)) + ".";
      if (section == "default.") section.clear();
      lines[section + "++"] = number;
    } else {
      lines[section + trimmed(line.substr(0, line.find('=')))] = number;
    }
  }
  return lines;
}

/// Returns the command-line option that CLI11 sets from this item of the file, or null.
const CLI::Option* option_of(const CLI::App& app, const CLI::ConfigItem& item) {
  const CLI::App* at = &app;
  for (const std::string& parent : item.parents) {
    const auto subcommands = at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == parent; });
    if (subcommands.empty()) return nullptr;
    at = subcommands.front();
  }
  const CLI::Option* option = at->get_option_no_throw("--" + item.name);
  if (option == nullptr && item.name.size() == 1) option = at->get_option_no_throw("-" + item.name);
  return option != nullptr ? option : at->get_option_no_throw(item.name);
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  std::string text;
  input.exceptions(std::ios_base::badbit);
  try {
    text.assign(std::istreambuf_iterator<char>(input), {});
  } catch (const std::ios_base::failure&) {
    throw Error(ErrorKind::input, "C63-CONFIG-READ", "cannot read the file of --config");
  }
  if (constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> read = CLI::ConfigTOML::from_config(stream);
  const auto lines = lines_by_name(text);
  settings_.clear();
  for (const CLI::ConfigItem& item : read) {
    const auto line = lines.find(item.fullname());
    settings_.push_back({item, line == lines.end() ? 0 : line->second});
  }
  return read;
}

std::optional<Error> ConfigFile::fault(const CLI::App& app, const CLI::ParseError& error) const {
  const auto at = [&](const Setting& setting, const std::string& what) {
    const std::string line = setting.line > 0 ? fmt::format("line {}: ", setting.line) : "";
    return Error(ErrorKind::usage, "C63-USAGE", line + what, {.file = app.get_config_ptr()->as<std::string>()});
  };
  // CLI11 also reports a missing file if the file exists, but cannot be opened for lack of memory or file descriptors.
  if (dynamic_cast<const CLI::FileError*>(&error) != nullptr) {
    const auto path = app.get_config_ptr()->as<std::string>();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
      ::close(descriptor);
      return Error(ErrorKind::memory, "C63-MEMORY", "out of memory");
    }
    if (errno == EMFILE || errno == ENFILE) {
      return system_fault(ErrorKind::limit, "C63-OPEN-FILES", "cannot open", errno, {.file = path});
    }
  }
  const std::string what = error.what();
  const bool of_names = dynamic_cast<const CLI::ConfigError*>(&error) != nullptr;
  for (const Setting& setting : settings_) {
    const CLI::Option* option = option_of(app, setting.item);
    if (of_names) {
      if (setting.item.name == "--") continue;  // the end of a section
      const std::string name = setting.item.name == "++" ? setting.item.parents.back() : setting.item.fullname();
      if (option == nullptr && what.ends_with(" " + setting.item.fullname()))
        return at(setting, "there is no option " + name);
      if (option != nullptr && !option->get_configurable())
        return at(setting, name + " can be used only on the command line");
    } else if (option != nullptr && what.find(option->get_name()) != std::string::npos &&
               (option->results() == setting.item.inputs || option->empty())) {
      return at(setting, what);
    }
  }
  return std::nullopt;
}

}  // namespace c63::tools
