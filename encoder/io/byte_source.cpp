#include "io/byte_source.h"

#include <utility>

#include "io/input_file.h"

namespace c63 {
namespace {

class FileByteSource final : public ByteSource {
 public:
  FileByteSource(const std::string& path, std::stop_token stop) : file_(path, std::move(stop)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override { return file_.read_some(bytes); }

 private:
  InputFile file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop) {
  return std::make_unique<FileByteSource>(path, std::move(stop));
}

}  // namespace c63
