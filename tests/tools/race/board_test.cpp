// Tests c63bench board, which combines the results of several races into one ladder.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "support/shell.h"
#include "support/temporary_folder.h"

namespace c63::tools {
namespace {

test::ShellResult board(const std::string& arguments) {
  return test::shell("'" C63_BIN_DIR "/c63bench' board " + arguments + " 2>&1");
}

class Board : public ::testing::Test {
 protected:
  std::string result(const std::string& name, const std::string& kernel, const std::string& verdict, double us) const {
    const std::string path = folder_.file(name);
    std::ofstream file(path);
    file << R"({"device":"Some GPU","entrants":[{"name":")" << kernel << R"(","verdict":")" << verdict
         << R"(","first":"block (1, 2): <wrong>"}],"results":[)";
    if (verdict == "right") {
      file << R"({"kernel":")" << kernel
           << R"(","size":"352x288","content":"natural","jobs":1,"us_per_frame":{"median":)" << us
           << R"(},"share_of_ceiling":0.25},)";
    }
    file
        << R"({"kernel":"textbook","size":"352x288","content":"natural","jobs":1,"us_per_frame":{"median":38},"share_of_ceiling":0.04}]})";
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Board, HasTheFastestFirstAndBuiltInOnesOnce) {
  const std::string files = "'" + result("anna.json", "anna.cu", "right", 9.5) + "' '" +
                            result("ben.json", "ben.cu", "right", 6.25) + "' '" +
                            result("carl.json", "carl.cu", "wrong", 0) + "'";
  const std::string page = folder_.file("board.html");
  const auto text = board(files + " -o '" + page + "'");
  ASSERT_EQ(text.exit_code, 0) << text.output;
  const std::size_t ben = text.output.find("ben.cu");
  const std::size_t anna = text.output.find("anna.cu");
  const std::size_t textbook = text.output.find("textbook");
  const std::size_t carl = text.output.find("carl.cu");
  EXPECT_LT(ben, anna);
  EXPECT_LT(anna, textbook);
  EXPECT_LT(textbook, carl) << "what was not timed stands last: " << text.output;
  ASSERT_NE(carl, std::string::npos);
  EXPECT_EQ(text.output.find("textbook", textbook + 1), std::string::npos) << "once: " << text.output;
  std::stringstream html;
  html << std::ifstream(page).rdbuf();
  EXPECT_NE(html.str().find("<td>ben.cu</td>"), std::string::npos);
  EXPECT_NE(html.str().find("block (1, 2): &lt;wrong&gt;"), std::string::npos)
      << "texts of others are not code of the page";
  EXPECT_EQ(html.str().find("http"), std::string::npos) << "the page needs no network";
}

TEST_F(Board, RefusesOtherFiles) {
  EXPECT_EQ(board("/no/such/file.json").exit_code, 4);
  const std::string other = folder_.file("other.json");
  std::ofstream(other) << "{}";
  const auto refused = board("'" + other + "'");
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_NE(refused.output.find("C63-BENCH-FIGURES"), std::string::npos) << refused.output;
  EXPECT_EQ(board("").exit_code, 2);
}

}  // namespace
}  // namespace c63::tools
