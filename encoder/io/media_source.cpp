#include <utility>

#include "c63/error.h"
#include "io/input_file.h"
#include "io/media_modules.h"
#include "io/source_parts.h"

namespace c63 {
namespace {

class FileOfSource final : public MediaInput {
 public:
  FileOfSource(std::unique_ptr<InputFile> file, const Limits& limits) : file_(std::move(file)), limits_(limits) {}

  const std::string& name() const override { return file_->name(); }
  std::optional<std::int64_t> size() const override { return file_->size(); }
  std::size_t read_at(std::int64_t offset, std::span<std::uint8_t> bytes) override {
    return file_->read_at(offset, bytes);
  }
  std::size_t read_some(std::span<std::uint8_t> bytes) override { return file_->read_some(bytes); }
  void check_picture_size(int width, int height) const override {
    c63::check_picture_size(width, height, limits_, file_->name());
  }

 private:
  std::unique_ptr<InputFile> file_;
  Limits limits_;
};

const MediaModule& module_for(const InputFile& file, const SourceOptions& options) {
  try {
    return ffmpeg_module(options.module_folder);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw error.at({.file = file.name()});
    throw Error(error.kind(), error.id(), "neither raw video nor Y4M; " + error.message(), {.file = file.name()});
  }
}

}  // namespace

std::unique_ptr<MediaSource> open_media_source(std::unique_ptr<InputFile> file, const SourceOptions& options) {
  return module_for(*file, options)
      .open_source(std::make_unique<FileOfSource>(std::move(file), options.limits), options);
}

}  // namespace c63
