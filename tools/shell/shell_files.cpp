#include "shell/shell_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

/// Returns the word for an option's value, such as FILE; empty for a flag.
std::string word_of(const ordered_json& option) { return option.at("value").is_null() ? "" : option.at("value").get<std::string>(); }

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

/// Returns the text with escapes, so that troff prints it unchanged.
std::string troff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == 0 && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  }
  return out;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string option_entry(const ordered_json& option) {
  const std::string word = word_of(option);
  const std::vector<std::string> choices = option.at("choices");
  std::vector<std::string> names;
  for (const std::string name : option.at("names")) names.push_back("\\fB" + troff(name) + "\\fR");
  if (option.contains("positional")) names.insert(names.begin(), "\\fI" + troff(option["positional"].get<std::string>()) + "\\fR");
  std::string text = ".TP\n" + joined(names, ", ");
  if (!word.empty() && !option.at("names").empty()) text += " \\fI" + troff(word) + "\\fR";
  text += "\n" + troff(sentence(option.at("description"))) + "\n";
  if (!choices.empty()) text += troff("One of " + joined(choices, ", ") + ".") + "\n";
  const std::string standard = option.at("default");
  if (!standard.empty()) text += troff("Default: " + standard + ".") + "\n";
  return text;
}

std::string option_groups(const ordered_json& program) {
  std::vector<std::string> groups;
  for (const auto& option : program.at("options")) {
    const std::string group = option.at("group");
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& g) { return g != "General"; });
  std::string text;
  for (const std::string& group : groups) {
    text += ".SS " + troff(group) + "\n";
    for (const auto& option : program["options"]) {
      if (option.at("group") == group) text += option_entry(option);
    }
  }
  return text;
}

std::string synopsis(const std::string& name, const ordered_json& program) {
  std::string text = "\\fB" + troff(name) + "\\fR [\\fIoptions\\fR]";
  for (const auto& option : program.at("options")) {
    if (option.contains("positional")) text += " [\\fI" + troff(option["positional"].get<std::string>()) + "\\fR]";
  }
  return text + "\n";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
.TP
.B 0
done, complete
.TP
.B 1
internal error
.TP
.B 2
wrong usage
.TP
.B 3
a comparison failed or missed its threshold
.TP
.B 4
input missing, unreadable, corrupt or truncated
.TP
.B 5
a limit was exceeded
.TP
.B 6
output could not be written
.TP
.B 7
out of memory
.TP
.B 8
the GPU that was demanded cannot be used
.TP
.BR 129 ", " 130 ", " 143
stopped by SIGHUP, SIGINT or SIGTERM; what was written is whole
)";

/// Returns the cases of the completion script for options that take a value.
std::string completion_cases(const ordered_json& program) {
  std::string cases;
  for (const auto& option : program.at("options")) {
    const std::string word = word_of(option);
    const std::vector<std::string> choices = option.at("choices");
    if (word.empty() || option.at("names").empty()) continue;
    std::vector<std::string> names;
    for (const std::string name : option["names"]) names.push_back(name);
    std::string action = "return 0";
    if (!choices.empty()) {
      action = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return 0", joined(choices, " "));
    } else if (word == "FILE" || word == "FOLDER") {
      action = fmt::format("compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -{} -- \"$cur\")); return 0",
                           word == "FILE" ? 'f' : 'd');
    }
    cases += fmt::format("      {}) {} ;;\n", joined(names, "|"), action);
  }
  return cases;
}

std::string option_names(const ordered_json& program) {
  std::vector<std::string> names;
  for (const auto& option : program.at("options")) {
    for (const std::string name : option.at("names")) names.push_back(name);
  }
  return joined(names, " ");
}

}  // namespace

std::string man_page(const ordered_json& program, const std::string& version, const std::vector<std::string>& others) {
  const std::string name = program.at("name");
  const std::string description = program.at("description");
  const auto stop = description.find('.');
  std::string text = fmt::format(".TH {} 1 \"\" \"c63 {}\" \"c63\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", upper(name), version,
                                 troff(name), troff(description.substr(0, stop)));
  text += synopsis(name, program);
  for (const auto& sub : program.at("subcommands")) text += ".br\n" + synopsis(name + " " + sub.at("name").get<std::string>(), sub);
  text += ".SH DESCRIPTION\n" + troff(sentence(description)) + "\n";
  text +=
      "Log and progress go to standard error, data to standard output. The file name \\fB\\-\\fR means standard input "
      "or output.\n";
  text += ".SH OPTIONS\n" + option_groups(program);
  for (const auto& sub : program["subcommands"]) {
    text += fmt::format(".SH {}\n{}\n", upper(name + " " + sub.at("name").get<std::string>()),
                        troff(sentence(sub.at("description"))));
    text += option_groups(sub);
  }
  text += kExitStatus;
  const auto& examples = program.at("examples");
  if (!examples.empty()) text += ".SH EXAMPLES\n";
  for (const auto& example : examples) {
    text += ".PP\n" + troff(sentence(example.at("text"))) + "\n.PP\n.nf\n.RS 4\n" + troff(example.at("command").get<std::string>()) +
            "\n.RE\n.fi\n";
  }
  std::vector<std::string> related;
  for (const std::string& other : others) {
    if (other != name) related.push_back(".BR " + troff(other) + " (1)");
  }
  return related.empty() ? text : text + ".SH SEE ALSO\n" + joined(related, " ,\n") + "\n";
}

std::string bash_completion(const ordered_json& program) {
  const std::string name = program.at("name");
  std::string text = fmt::format("# bash completion for {0}, made from its options\n_{0}() {{\n"
                                 "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
                                 "  COMPREPLY=()\n"
                                 "  # bash takes --option=value apart at the sign.\n"
                                 "  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\"${{COMP_WORDS[COMP_CWORD-2]}}\"; fi\n",
                                 name);
  std::string words;
  std::string subcommands;
  for (const auto& sub : program.at("subcommands")) {
    const std::string sub_name = sub.at("name");
    subcommands += (subcommands.empty() ? "" : " ") + sub_name;
    text += fmt::format("  if [[ ${{COMP_WORDS[1]}} == {} && $COMP_CWORD -gt 1 ]]; then\n    case $prev in\n{}    esac\n"
                        "    [[ $cur == -* ]] && {{ COMPREPLY=($(compgen -W '{} {}' -- \"$cur\")); return 0; }}\n  fi\n",
                        sub_name, completion_cases(sub), option_names(sub), option_names(program));
  }
  text += fmt::format("  case $prev in\n{}  esac\n", completion_cases(program));
  text += fmt::format("  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return 0; fi\n", option_names(program));
  text += "  compopt -o filenames 2>/dev/null\n";
  if (subcommands.empty()) {
    text += "  COMPREPLY=($(compgen -f -- \"$cur\"))\n";
  } else {
    text += fmt::format("  COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                        "  [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W '{}' -- \"$cur\"))\n", subcommands);
  }
  return text + fmt::format("  return 0\n}}\ncomplete -F _{0} {0}\n", name);
}

}  // namespace c63::tools
