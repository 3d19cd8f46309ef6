#include "io/byte_source.h"

#include <utility>

#include "io/input_file.h"

namespace c63 {
namespace {

class FileByteSource final : public ByteSource {
 public:
  FileByteSource(const std::string& path, std::stop_token stop) : file_(path, std::move(stop)) {}

  std::size_t read(std::span<std::uint8_t> bytes) override { return file_.read_some(bytes); }
  std::optional<std::uint64_t> size() const override {
    const auto size = file_.size();
    return size ? std::optional(static_cast<std::uint64_t>(*size)) : std::nullopt;
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) override {
    return offset > INT64_MAX ? 0 : file_.read_at(static_cast<std::int64_t>(offset), bytes);
  }

 private:
  InputFile file_;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path, std::stop_token stop) {
  return std::make_unique<FileByteSource>(path, std::move(stop));
}

}  // namespace c63
