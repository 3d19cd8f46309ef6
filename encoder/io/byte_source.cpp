#include "io/byte_source.h"

#include <string>
#include <utility>

#include "c63/error.h"

namespace c63 {
namespace {

class FileByteSource final : public ByteSource {
 public:
  explicit FileByteSource(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override {
    const std::size_t count = file_->read_some(bytes);
    if (count == 0 && !bytes.empty() && file_->size() && file_->position() < *file_->size()) {
      throw Error(ErrorKind::input, "C63-INPUT-SHRUNK",
                  "the file had " + std::to_string(*file_->size()) + " bytes when it was opened, but is shorter now",
                  {.file = file_->name(), .offset = file_->position()});
    }
    return count;
  }
  std::optional<std::uint64_t> size() const override {
    const auto size = file_->size();
    return size ? std::optional(static_cast<std::uint64_t>(*size)) : std::nullopt;
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override {
    return offset > INT64_MAX ? 0 : file_->read_at(static_cast<std::int64_t>(offset), bytes);
  }

 private:
  std::unique_ptr<InputFile> file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop) {
  return make_byte_source(std::make_unique<InputFile>(path, std::move(stop)));
}

std::unique_ptr<ByteSource> make_byte_source(std::unique_ptr<InputFile> file) {
  return std::make_unique<FileByteSource>(std::move(file));
}

}  // namespace c63
