#include "io/byte_source.h"

#include <utility>

namespace c63 {
namespace {

class FileByteSource final : public ByteSource {
 public:
  explicit FileByteSource(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override { return file_->read_some(bytes); }
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
