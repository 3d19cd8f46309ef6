#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "c63/error.h"

namespace c63::tools {

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

}  // namespace c63::tools
