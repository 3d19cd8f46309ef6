// Tests the manual pages and the shell's completions: they must have every option of every program, and must work.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "support/shared_data.h"
#include "support/shell.h"

namespace c63::tools {
namespace {

std::string text_of(const std::string& path) {
  const auto bytes = test::read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

std::string manual(const std::string& program) { return C63_SHELL_DIR "/man1/" + program + ".1"; }
std::string completion(const std::string& program) { return C63_SHELL_DIR "/completions/" + program; }

class ShellFilesTest : public testing::TestWithParam<std::string> {};

std::vector<std::string> programs() {
  std::vector<std::string> names;
  std::istringstream list(C63_PROGRAMS);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

void collect(const nlohmann::json& program, std::vector<nlohmann::json>& options) {
  for (const auto& option : program.at("options")) options.push_back(option);
  for (const auto& sub : program.at("subcommands")) collect(sub, options);
}

/// Returns the words that bash offers as completions for the last word of this command line.
std::string complete(const std::string& program, const std::vector<std::string>& words) {
  std::string line = "source '" + completion(program) + "'; COMP_WORDS=('" + program + "'";
  for (const std::string& word : words) line += " '" + word + "'";
  line += "); COMP_CWORD=" + std::to_string(words.size()) + "; _" + program + "; echo \"${COMPREPLY[*]}\"";
  std::string quoted = "bash -c \"";
  for (const char c : line) quoted += c == '"' || c == '$' ? std::string{'\\', c} : std::string(1, c);
  return test::shell(quoted + "\" 2>&1").output;
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; words >> one;) {
    if (one == word) return true;
  }
  return false;
}

/// Returns the names of all options that a program lists with --help-all.
std::set<std::string> options_of_help(const std::string& command) {
  const auto help = test::shell("'" C63_BIN_DIR "/" + command + " --help-all");
  EXPECT_EQ(help.exit_code, 0);
  std::set<std::string> names;
  std::istringstream lines(help.output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::istringstream list(line);
    for (std::string name; list >> name && name.starts_with('-');) names.insert(name.substr(0, name.find(',')));
  }
  return names;
}

/// Returns an option's name with the markup that it has in a manual page.
std::string in_manual(const std::string& name) {
  std::string written = "\\fB";
  for (const char c : name) written += c == '-' ? std::string("\\-") : std::string(1, c);
  return written + "\\fR";
}

TEST_P(ShellFilesTest, EveryOptionOfHelpIsCovered) {
  const std::string page = text_of(manual(GetParam()));
  const auto expect_covered = [&](const std::set<std::string>& names, const std::string& offered) {
    for (const std::string& name : names) {
      EXPECT_TRUE(has_word(offered, name)) << name << " is not completed: " << offered;
      EXPECT_NE(page.find(in_manual(name)), std::string::npos) << name << " is not in the manual page";
    }
  };
  const auto names = options_of_help(GetParam() + "'");
  EXPECT_GT(names.size(), 8U);
  for (const char* common : {"--help", "--version", "-v", "--verbose", "--quiet", "--threads", "--progress", "--config"}) {
    EXPECT_TRUE(names.contains(common)) << common;
  }
  expect_covered(names, complete(GetParam(), {"-"}));
  const auto tree = nlohmann::json::parse(test::shell("'" C63_BIN_DIR "/" + GetParam() + "' --describe-options").output);
  for (const auto& sub : tree["subcommands"]) {
    const std::string name = sub["name"];
    const auto own = options_of_help(GetParam() + "' " + name);
    if (sub["description"].get<std::string>().starts_with("Needs CUDA: ")) {  // was not built, so it has only --help
      EXPECT_EQ(own, (std::set<std::string>{"--help", "--help-all"})) << name;
    } else {
      EXPECT_GT(own.size(), 2U) << name;
    }
    expect_covered(own, complete(GetParam(), {name, "-"}));
  }
}

TEST_P(ShellFilesTest, EveryOptionIsCovered) {
  const auto tree = test::shell("'" C63_BIN_DIR "/" + GetParam() + "' --describe-options");
  ASSERT_EQ(tree.exit_code, 0);
  std::vector<nlohmann::json> options;
  const auto json = nlohmann::json::parse(tree.output);
  collect(json, options);
  ASSERT_GT(options.size(), 8U);
  const std::string page = text_of(manual(GetParam()));
  const std::string offered = complete(GetParam(), {"-"});
  for (const auto& option : json["options"]) {
    for (const std::string name : option["names"]) {
      EXPECT_TRUE(has_word(offered, name)) << name << " is not completed: " << offered;
    }
  }
  for (const auto& sub : json["subcommands"]) {
    const std::string within = complete(GetParam(), {sub["name"], "-"});
    for (const auto& option : sub["options"]) {
      for (const std::string name : option["names"]) EXPECT_TRUE(has_word(within, name)) << name << " is not completed";
    }
    EXPECT_TRUE(has_word(complete(GetParam(), {""}), sub["name"]));
  }
  for (const auto& option : options) {
    for (const std::string name : option["names"]) {
      EXPECT_NE(page.find(in_manual(name)), std::string::npos) << name << " is not in the manual page";
    }
    EXPECT_FALSE(option["description"].get<std::string>().empty());
  }
}

TEST_P(ShellFilesTest, ChoicesAreCompleted) {
  const std::string levels = complete(GetParam(), {"--log-level", ""});
  EXPECT_TRUE(has_word(levels, "debug")) << levels;
  EXPECT_TRUE(has_word(complete(GetParam(), {"--log-level", "=", "w"}), "warn"));
  EXPECT_FALSE(has_word(complete(GetParam(), {"--log-level", "w"}), "debug"));
  EXPECT_EQ(complete(GetParam(), {"--threads", ""}), "\n") << "a number has no completion";
}

TEST_P(ShellFilesTest, ManualPageHasExamplesAndNamesTheOtherPrograms) {
  const std::string page = text_of(manual(GetParam()));
  const auto examples = page.find(".SH EXAMPLES\n");
  const auto others = page.find(".SH SEE ALSO\n");
  ASSERT_NE(examples, std::string::npos);
  ASSERT_NE(others, std::string::npos);
  EXPECT_NE(page.find("\n" + GetParam() + " ", examples), std::string::npos) << "no example with the program";
  for (const std::string& program : programs()) {
    EXPECT_EQ(page.find(".BR " + program + " (1)", others) != std::string::npos, program != GetParam()) << program;
  }
  const auto help = test::shell("'" C63_BIN_DIR "/" + GetParam() + "' --help-all");
  EXPECT_NE(help.output.find("Examples:\n  "), std::string::npos);
}

TEST_P(ShellFilesTest, HelpIsForPeople) {
  const auto help_of = [&](const std::string& more, int width) {
    const auto help = test::shell("COLUMNS=" + std::to_string(width) + " '" C63_BIN_DIR "/" + GetParam() + "' " + more);
    EXPECT_EQ(help.exit_code, 0);
    for (const char* of_cli11 : {"{", "OPTIONS", " in [", "TEXT:", ":SIZE", "4294836225", "8589934592"}) {
      EXPECT_EQ(help.output.find(of_cli11), std::string::npos) << of_cli11 << " in " << help.output;
    }
    return help.output;
  };
  const auto tree = nlohmann::json::parse(test::shell("'" C63_BIN_DIR "/" + GetParam() + "' --describe-options").output);
  const std::string daily = help_of("--help", 80);
  EXPECT_TRUE(daily.starts_with(tree["description"].get<std::string>().substr(0, 20))) << daily;
  EXPECT_NE(daily.find("\n  " + tree["examples"][0]["command"].get<std::string>() + "\n"), std::string::npos) << daily;
  EXPECT_LE(std::ranges::count(daily, '\n'), 75) << daily;
  EXPECT_NE(daily.find("--help-all shows all"), std::string::npos);
  for (const int width : {60, 80, 110}) {
    std::istringstream lines(help_of("--help-all", width));
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  " + GetParam() + " ") || line.find(" " + GetParam() + " ") != std::string::npos) continue;  // an example
      std::size_t columns = 0;
      for (const char c : line) columns += (c & 0xC0) != 0x80;
      EXPECT_LE(columns, static_cast<std::size_t>(width)) << line;
      longest = std::max(longest, columns);
    }
    EXPECT_GT(longest, static_cast<std::size_t>(width) - 12) << "the width is not used";
  }
}

TEST_P(ShellFilesTest, ManualPageFormatsWithoutComplaint) {
  if (!test::have_command("groff")) GTEST_SKIP() << "no groff on the PATH";
  const auto result = test::shell("groff -man -Tascii -ww -P-c '" + manual(GetParam()) + "' 2>&1 >/dev/null");
  EXPECT_EQ(result.output, "");
}

INSTANTIATE_TEST_SUITE_P(Programs, ShellFilesTest, testing::ValuesIn(programs()),
                         [](const auto& program) { return program.param; });

}  // namespace
}  // namespace c63::tools
