#include "io_test_support.h"

#include <csignal>
#include <thread>

namespace c63::test {

struct PipedInput::State {
  std::unique_ptr<RedirectedDescriptor> redirected;
  std::thread writer;
};

PipedInput::PipedInput(const std::string& content) : state_(new State) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  state_->redirected = std::make_unique<RedirectedDescriptor>(STDIN_FILENO, ends[0]);
  state_->writer = std::thread([content, end = ends[1]] {
    std::size_t piece = 1;
    for (std::size_t at = 0; at < content.size();) {
      const ssize_t put = ::write(end, content.data() + at, std::min(piece, content.size() - at));
      if (put <= 0) break;
      at += static_cast<std::size_t>(put);
      piece = piece % 3001 + 97;
    }
    ::close(end);
  });
}

PipedInput::~PipedInput() {
  state_->redirected.reset();  // closes the reading end, so that the writer cannot hang
  state_->writer.join();
  delete state_;
}

}  // namespace c63::test
