#pragma once

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "files/output_file.h"

namespace c63::tools {

/// A text file that is written in pieces, so that memory does not grow with its length.
class TextFile {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  /// The most memory that a file takes, in bytes. A string of one piece grows by doubling; while it grows, its old and its
  /// new memory exist.
  static constexpr std::uint64_t kMemory = 3 * kPiece;

  explicit TextFile(const std::string& path, Writing writing = {}) : file_(path, writing) {}

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    if (text_.size() >= kPiece) flush();
  }
  /// Writes what was added so far, so that the reader of a pipe gets it at once.
  void flush() {
    file_.write(text_);
    text_.clear();
  }
  void commit() {
    flush();
    file_.commit();
  }
  /// See OutputFile::commit_part().
  [[nodiscard]] std::string commit_part() {
    flush();
    return file_.commit_part();
  }

 private:
  OutputFile file_;
  std::string text_;
};

/// An output in addition to the main output, which stays valid if this one fails. An error ends only this output. It is
/// reported when all other work is done. `Writer` has commit() and commit_part().
template <typename Writer>
class SideOutput {
 public:
  SideOutput() = default;
  /// `writer` is null if the output was not requested.
  explicit SideOutput(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}

  /// Calls `action(writer)` if there is an output and it has not failed.
  template <typename Action>
  void use(const Action& action) {
    if (!writer_) return;
    try {
      action(*writer_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::output) throw;
      fault_ = error;
      writer_.reset();
    }
  }
  void commit() {
    use([](Writer& writer) { writer.commit(); });
  }
  /// See OutputFile::commit_part().
  void commit_part() {
    use([](Writer& writer) { (void)writer.commit_part(); });
  }

  /// The error that ended the output, if any.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

 private:
  std::unique_ptr<Writer> writer_;
  std::optional<Error> fault_;
};

/// A file that the command line names, and the option that names it.
struct NamedPath {
  std::string option;
  std::string path;  ///< "-" is standard input or output; empty if the option is not given
};

/// Throws Error (usage, C63-SAME-FILE) if an output is the same file as an input or another output, also through links,
/// or if two outputs go to stdout. Character devices may be named several times. Throws Error (output,
/// C63-OUTPUT-EXISTS) if an output exists and keep_existing_files(true) was called. Logs, statistics files and segment plans
/// may exist, because a run continues them.
void check_distinct_files(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

/// Says whether check_distinct_files() refuses outputs that exist (option -n). Until this is called it accepts them.
void keep_existing_files(bool keep);

/// Throws Error (usage, C63-SAME-FILE) if standard error goes to the output, as with `-o - 2>&1`: log lines would be
/// mixed with data. Throws Error (usage, C63-TERMINAL) if the output is a terminal.
void check_apart_from_log(const NamedPath& output);

/// A file name, or a pattern that gives a name for each number. A pattern has one number format such as %d or %06d. %% is
/// a percent sign.
class NumberedName {
 public:
  /// Throws Error (usage, C63-OUTPUT-NAME) if the name has another %.
  explicit NumberedName(const std::string& name);

  [[nodiscard]] bool is_numbered() const { return is_numbered_; }
  [[nodiscard]] std::string of(std::int64_t number) const;

 private:
  bool is_numbered_ = false;
  std::string head_;
  std::string tail_;
  int digits_ = 0;
};

/// Throws Error (usage, C63-OUTPUT-NAME) if the output's name has the extension of another format, such as .mp4.
/// `instead` tells the user what to do.
void check_no_container(const NamedPath& output, const std::string& instead);

/// Completes an output that a signal has cut short, and returns the name of its file. If `replaces`, the output
/// replaces any older file at `path`. Otherwise an older file at `path` stays, and the new file gets another name,
/// which is logged. `Output` has commit() and commit_part().
template <typename Output>
std::string commit_stopped(Output& output, const std::string& path, bool replaces, spdlog::logger& log) {
  if (replaces) {
    output.commit();
    return path;
  }
  std::string part = output.commit_part();
  if (part.empty()) return path;
  log.warn("{} is still the older file; the incomplete new one is {} (--keep-partial replaces the older file)", path,
           part);
  return part;
}

}  // namespace c63::tools
