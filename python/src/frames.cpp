#include <cstring>
#include <string>

#include "backends.h"
#include "c63/error.h"
#include "video_input.h"
#if defined(C63_HAVE_CUDA)
#include "c63/cuda/device_frames.h"
#endif

namespace c63::python {
namespace {

constexpr const char* kWanted =
    "uint8 frames (n, height*3/2, width), a tuple of planes (n, height, width), (n, height/2, width/2) twice, or "
    "with input_res=(width, height) also (n, frame bytes) or grey planes (n, height, width)";

/// A source of frames with gaps: every n-th frame of an array, parts of larger pictures, or separate planes.
class PlanesSource final : public FrameSource {
 public:
  PlanesSource(VideoFormat format, std::int64_t count, const std::array<PlaneRows, 3>& planes)
      : format_(format), count_(count), planes_(planes) {}

  [[nodiscard]] VideoFormat format() const override { return format_; }
  [[nodiscard]] std::optional<std::int64_t> frame_count() const override { return count_; }
  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool read(std::int64_t index, std::span<std::uint8_t> frame) override {
    if (index < 0 || index >= count_) return false;
    std::uint8_t* to = frame.data();
    for (const PlaneRows& plane : planes_) {
      const std::uint8_t* const from = plane.data + index * plane.frame_stride;
      const std::size_t runs = plane.without_gaps() ? 1 : plane.rows;
      const std::size_t bytes = plane.without_gaps() ? plane.rows * plane.row_bytes : plane.row_bytes;
      for (std::size_t run = 0; run < runs; ++run, to += bytes) {
        std::memcpy(to, from + static_cast<std::ptrdiff_t>(run) * plane.row_stride, bytes);
      }
    }
    return true;
  }

 private:
  VideoFormat format_;
  std::int64_t count_;
  std::array<PlaneRows, 3> planes_;
};

}  // namespace

ArraySource::ArraySource(py::handle frames, py::handle size, std::uintptr_t stream) {
  if (py::isinstance<py::tuple>(frames) || py::isinstance<py::list>(frames)) {
    const auto planes = frames.cast<py::sequence>();
    if (planes.size() != 3) {
      throw Error(ErrorKind::usage, "C63-ARRAY-SHAPE",
                  std::string("frames: wanted ") + kWanted + ", got " + std::to_string(planes.size()) + " arrays");
    }
    for (const char* const name : {"Y", "U", "V"}) {
      arrays_.emplace_back(planes[arrays_.size()], std::string("frames, plane ") + name, stream);
      arrays_.back().require_dtype("uint8");
    }
    take_planes();
  } else {
    arrays_.emplace_back(frames, "frames", stream);
    arrays_.back().require_dtype("uint8");
    take_linear(size);
  }
  if (arrays_.front().on_device()) {
    open_on_device(stream);
  } else if (const std::uint8_t* const frames_in_row = whole_frames()) {
    const std::size_t bytes = static_cast<std::size_t>(count_) * frame_bytes(format_.width, format_.height);
    source_ = std::make_unique<MemorySource>(std::span(frames_in_row, bytes), format_);
  } else {
    source_ = std::make_unique<PlanesSource>(format_, count_, planes_);
  }
}

void ArraySource::take_linear(py::handle size) {
  const Array& array = arrays_.front();
  const std::vector<std::ptrdiff_t>& shape = array.shape();
  if (!size.is_none()) {
    const auto [width, height] = size.cast<std::pair<int, int>>();
    format_ = {width, height, {}};
    const std::vector<std::ptrdiff_t> each(shape.begin() + (shape.empty() ? 0 : 1), shape.end());
    const std::size_t bytes = width < 1 || height < 1 ? 0 : frame_bytes(width, height);
    if (bytes > 0 && each == std::vector<std::ptrdiff_t>{height, width} && !array.on_device()) {
      take_grey();
      return;
    }
    const bool has_rows = height % 2 == 0 && each == std::vector<std::ptrdiff_t>{height + height / 2, width};
    if (bytes == 0 || (!has_rows && each != std::vector{static_cast<std::ptrdiff_t>(bytes)})) {
      array.refuse("C63-ARRAY-SHAPE", "(n, " + std::to_string(bytes) + ") for input_res=(" + std::to_string(width) + ", " +
                                          std::to_string(height) + ")");
    }
  } else {
    array.require_dimensions(3, kWanted);
    if (shape[1] % 3 != 0 || shape[1] == 0 || shape[2] == 0) array.refuse("C63-ARRAY-SHAPE", kWanted);
    format_ = {static_cast<int>(shape[2]), static_cast<int>(shape[1] / 3 * 2), {}};
  }
  array.require_contiguous(1);
  count_ = shape[0];
  const std::uint8_t* data = static_cast<const std::uint8_t*>(array.data());
  for (int p = 0; p < 3; ++p) {
    const std::size_t bytes = plane_bytes(format_.width, format_.height, p);
    planes_[static_cast<std::size_t>(p)] = {data, array.strides()[0], static_cast<std::ptrdiff_t>(bytes), 1, bytes};
    data += bytes;
  }
}

void ArraySource::take_grey() {
  const Array& luma = arrays_.front();
  luma.require_contiguous(2);
  count_ = luma.shape()[0];
  planes_[0] = {static_cast<const std::uint8_t*>(luma.data()), luma.strides()[0], luma.strides()[1],
                static_cast<std::size_t>(format_.height), static_cast<std::size_t>(format_.width)};
  grey_.assign(plane_bytes(format_.width, format_.height, 1), 128);
  for (std::size_t p = 1; p < 3; ++p) planes_[p] = {grey_.data(), 0, 0, 1, grey_.size()};
}

void ArraySource::take_planes() {
  const Array& luma = arrays_.front();
  luma.require_dimensions(3, "(n, height, width) with even sides");
  if (luma.shape()[1] % 2 != 0 || luma.shape()[2] % 2 != 0) luma.refuse("C63-ARRAY-SHAPE", "(n, height, width) with even sides");
  format_ = {static_cast<int>(luma.shape()[2]), static_cast<int>(luma.shape()[1]), {}};
  count_ = luma.shape()[0];
  for (std::size_t p = 0; p < 3; ++p) {
    const Array& array = arrays_[p];
    const std::ptrdiff_t shrunk = p == 0 ? 1 : 2;
    const std::vector<std::ptrdiff_t> wanted = {luma.shape()[0], luma.shape()[1] / shrunk, luma.shape()[2] / shrunk};
    if (array.shape() != wanted) array.refuse("C63-ARRAY-SHAPE", shape_text(wanted));
    if (array.on_device() != luma.on_device()) array.refuse("C63-ARRAY-DEVICE", "all planes on one device");
    array.require_contiguous(2);
    planes_[p] = {static_cast<const std::uint8_t*>(array.data()), array.strides()[0], array.strides()[1],
                  static_cast<std::size_t>(wanted[1]), static_cast<std::size_t>(wanted[2])};
  }
}

const std::uint8_t* ArraySource::whole_frames() const {
  const std::uint8_t* next = planes_[0].data;
  const auto frame = static_cast<std::ptrdiff_t>(frame_bytes(format_.width, format_.height));
  for (const PlaneRows& plane : planes_) {
    if (plane.data != next || !plane.without_gaps() || (count_ > 1 && plane.frame_stride != frame)) return nullptr;
    next += plane.rows * plane.row_bytes;
  }
  return planes_[0].data;
}

void ArraySource::open_on_device([[maybe_unused]] std::uintptr_t stream) {
#if defined(C63_HAVE_CUDA)
  auto* const handle = reinterpret_cast<CUstream_st*>(stream);
  std::unique_ptr<cuda::DeviceFrames> frames;
  if (const std::uint8_t* const whole = whole_frames()) {
    const std::size_t bytes = static_cast<std::size_t>(count_) * frame_bytes(format_.width, format_.height);
    frames = std::make_unique<cuda::DeviceFrames>(std::span(whole, bytes), format_, handle);
  } else {
    std::array<cuda::DevicePlane, 3> planes;
    for (std::size_t p = 0; p < 3; ++p) {
      const PlaneRows& plane = planes_[p];
      const std::ptrdiff_t width = p == 0 ? format_.width : format_.width / 2;
      planes[p] = {plane.data, plane.frame_stride, plane.rows > 1 ? plane.row_stride : width};
    }
    frames = std::make_unique<cuda::DeviceFrames>(planes, count_, format_, handle);
  }
  device_ = frames->device();
  source_ = std::move(frames);
#else
  refuse_device();
#endif
}

}  // namespace c63::python
