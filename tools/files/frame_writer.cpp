#include "files/frame_writer.h"

#include "c63/error.h"
#include "io/text.h"

namespace c63 {
namespace {

using Planes = std::array<std::span<const std::uint8_t>, 3>;

/// Writes the planes one after another. If they lie next to each other in memory, writes them with one call.
void write_to(OutputFile& file, const Planes& planes) {
  if (planes[0].data() + planes[0].size() == planes[1].data() && planes[1].data() + planes[1].size() == planes[2].data()) {
    file.write(std::span(planes[0].data(), planes[0].size() + planes[1].size() + planes[2].size()));
    return;
  }
  for (const auto& plane : planes) file.write(plane);
}

class RawWriter final : public FrameWriter {
 public:
  RawWriter(const std::string& path, Writing writing) : file_(path, writing) {}

  void write_planes(int, int, const Planes& planes) override { write_to(file_, planes); }
  void commit() override { file_.commit(); }
  std::string commit_part() override { return file_.commit_part(); }

 private:
  OutputFile file_;
};

class Y4mWriter final : public FrameWriter {
 public:
  Y4mWriter(const std::string& path, FrameRate rate, Writing writing) : file_(path, writing), rate_(rate) {}

  void write_planes(int width, int height, const Planes& planes) override {
    if (width_ == 0) {
      write_header(width, height);
    } else if (width != width_ || height != height_) {
      throw Error(ErrorKind::output, "C63-Y4M-SIZE-CHANGE",
                  "Y4M holds one picture size; it changed from " + size_text(width_, height_) + " to " +
                      size_text(width, height),
                  {.file = file_.name()});
    }
    file_.write("FRAME\n");
    write_to(file_, planes);
  }

  void commit() override { file_.commit(); }
  std::string commit_part() override { return file_.commit_part(); }

 private:
  void write_header(int width, int height) {
    if (width % 2 != 0 || height % 2 != 0) {
      throw Error(ErrorKind::usage, "C63-Y4M-ODD",
                  size_text(width, height) +
                      " has an odd side: Y4M holds more chroma samples for it than the course "
                      "codec; write raw .yuv instead",
                  {.file = file_.name()});
    }
    width_ = width;
    height_ = height;
    file_.write("YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) + " F" +
                std::to_string(rate_.numerator) + ":" + std::to_string(rate_.denominator) + " Ip A0:0 C420jpeg\n");
  }

  OutputFile file_;
  FrameRate rate_;
  int width_ = 0;
  int height_ = 0;
};

class NullWriter final : public FrameWriter {
 public:
  void write_planes(int, int, const Planes&) override {}
  void commit() override {}
  std::string commit_part() override { return {}; }
};

}  // namespace

std::unique_ptr<FrameWriter> open_frame_writer(const std::string& path, FrameRate rate, Writing writing,
                                               OutputFormat format) {
  if (format == OutputFormat::automatic) {
    const std::string extension = extension_of(path);
    format = extension == "y4m" ? OutputFormat::y4m : OutputFormat::raw;
    if (format == OutputFormat::raw && is_container_extension(extension)) {
      throw Error(ErrorKind::usage, "C63-OUTPUT-NAME",
                  "frames can be written as raw YUV 4:2:0 (.yuv) or as Y4M (.y4m), not as ." + extension,
                  {.file = path});
    }
  }
  if (format == OutputFormat::y4m) return std::make_unique<Y4mWriter>(path, rate, writing);
  return std::make_unique<RawWriter>(path, writing);
}

std::unique_ptr<FrameWriter> make_null_writer() { return std::make_unique<NullWriter>(); }

}  // namespace c63
