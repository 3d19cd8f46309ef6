#include "io/frame_writer.h"

#include "c63/error.h"
#include "io/text.h"

namespace c63 {
namespace {

class RawWriter final : public FrameWriter {
 public:
  RawWriter(const std::string& path, Durability durability) : file_(path, durability) {}

  void write(int, int, std::span<const std::uint8_t> frame) override { file_.write(frame); }
  void commit() override { file_.commit(); }

 private:
  OutputFile file_;
};

class Y4mWriter final : public FrameWriter {
 public:
  Y4mWriter(const std::string& path, FrameRate rate, Durability durability) : file_(path, durability), rate_(rate) {}

  void write(int width, int height, std::span<const std::uint8_t> frame) override {
    if (width_ == 0) {
      write_header(width, height);
    } else if (width != width_ || height != height_) {
      throw Error(ErrorKind::output, "C63-Y4M-SIZE-CHANGE",
                  "Y4M holds one picture size; it changed from " + size_text(width_, height_) + " to " +
                      size_text(width, height),
                  {.file = file_.name()});
    }
    file_.write("FRAME\n");
    file_.write(frame);
  }

  void commit() override { file_.commit(); }

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
  void write(int, int, std::span<const std::uint8_t>) override {}
  void commit() override {}
};

}  // namespace

std::unique_ptr<FrameWriter> open_frame_writer(const std::string& path, FrameRate rate, Durability durability) {
  if (extension_of(path) == "y4m") return std::make_unique<Y4mWriter>(path, rate, durability);
  return std::make_unique<RawWriter>(path, durability);
}

std::unique_ptr<FrameWriter> make_null_writer() { return std::make_unique<NullWriter>(); }

}  // namespace c63
