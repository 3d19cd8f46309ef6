#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "c63/error.h"

namespace c63::tools {

/// An output beside the main one, which is good without it: a fault ends this output alone, and is told when all else is
/// done. `Writer` has commit() and commit_part().
template <typename Writer>
class SideOutput {
 public:
  SideOutput() = default;
  /// Null for no output.
  explicit SideOutput(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}

  /// Calls `action(writer)` unless there is none, or not any more.
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

  /// Why the output is not there.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

 private:
  std::unique_ptr<Writer> writer_;
  std::optional<Error> fault_;
};

}  // namespace c63::tools
