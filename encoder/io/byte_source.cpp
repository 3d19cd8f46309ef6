#include "io/byte_source.h"

#include "io/input_file.h"

namespace c63 {
namespace {

class FileByteSource final : public ByteSource {
 public:
  explicit FileByteSource(const std::string& path) : file_(path) {}

  std::size_t read(std::span<std::uint8_t> bytes) override { return file_.read_some(bytes); }

 private:
  InputFile file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path) { return std::make_unique<FileByteSource>(path); }

}  // namespace c63
