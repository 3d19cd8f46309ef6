// Encodes with a search that a user wrote (c63/user_search.h). In every preset, a GPU must give the bytes of the CPU.

#include "c63/user_search.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "backend_test_support.h"
#include "c63/error.h"
#include "c63/motion_kernel.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/temporary_folder.h"

namespace c63::cuda {
namespace {

/// The search by its definition: compares every candidate, and keeps the first one with the smallest SAD.
void search_exactly(const c63_motion_job& job) {
  const int columns = job.width / 8;
  for (int block = 0; block < columns * (job.height / 8); ++block) {
    const int x0 = block % columns * 8;
    const int y0 = block / columns * 8;
    job.vectors[block] = {0, 0};
    unsigned best = 65535;
    for (int y = std::max(0, y0 - job.range); y < std::min(job.height - 8, y0 + job.range); ++y) {
      for (int x = std::max(0, x0 - job.range); x < std::min(job.width - 8, x0 + job.range); ++x) {
        unsigned sad = 0;
        for (int i = 0; i < 64; ++i) {
          sad += static_cast<unsigned>(std::abs(job.current[(y0 + i / 8) * job.current_pitch + x0 + i % 8] -
                                                job.reference[(y + i / 8) * job.reference_pitch + x + i % 8]));
        }
        if (sad >= best) continue;
        best = sad;
        job.vectors[block] = {static_cast<signed char>(x - x0), static_cast<signed char>(y - y0)};
      }
    }
  }
}

/// Returns the path of a file of the source tree. If the sources are no longer where they were at build time, the path
/// is relative to the current folder.
std::string file_of_tree(const std::string& name) {
  const std::string built = C63_SOURCE_DIR "/" + name;
  return std::filesystem::exists(built) ? built : name;
}

std::shared_ptr<const UserSearch> user_search(const std::string& kernel) {
  return std::make_shared<const UserSearch>(UserSearch{.name = std::filesystem::path(kernel).filename().string(),
                                                     .digest = "",
                                                     .open = [] { return UserSearch::Function(search_exactly); },
                                                     .kernel = kernel});
}

class UserSearchTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists(textbook_)) GTEST_SKIP() << "no " << textbook_;
    try {
      static_cast<void>(encode(textbook_, {.coding = {.width = 16, .height = 16}}, test::moving_video(16, 16, 2)));
    } catch (const Error& error) {
      if (error.id() == "C63-NO-NVRTC") GTEST_SKIP() << error.message();
      throw;
    }
  }
  static Encoded encode(const std::string& kernel, EncoderSettings settings, const test::Bytes& video) {
    settings.coding.user_search = user_search(kernel);
    return on_gpu(settings, video);
  }

  std::string textbook_ = file_of_tree("tools/race/examples/gpu/textbook.cu");
};

TEST_F(UserSearchTest, GivesTheBytesOfTheCpuInEveryPreset) {
  const test::Bytes video = test::moving_video(112, 80, 10);
  for (const Preset preset : values_of<Preset>()) {
    for (const int lanes : {1, 3}) {
      SCOPED_TRACE(testing::Message() << name(preset) << ", " << lanes << " lanes");
      EncoderSettings settings{.coding = {.width = 112, .height = 80, .preset = preset, .key_interval = 4}};
      settings.coding.search_range = search_range_of(preset);
      settings.execution.lanes = lanes;
      settings.measurement.keep_reconstruction = lanes == 3;
      settings.coding.user_search = user_search(textbook_);
      const Encoded cpu = on_cpu(settings, video);
      const Encoded gpu = on_gpu(settings, video);
      EXPECT_TRUE(same_bytes(cpu.stream(), gpu.stream()));
      if (lanes == 3) expect_decodes(gpu);
    }
  }
}

TEST_F(UserSearchTest, ARangeOfOneLeavesChromaUnsearched) {
  const test::Bytes video = test::moving_video(64, 48, 4);
  EncoderSettings settings{.coding = {.width = 64, .height = 48, .search_range = 1}};
  settings.coding.user_search = user_search(textbook_);
  EXPECT_TRUE(same_bytes(on_cpu(settings, video).stream(), on_gpu(settings, video).stream()));
}

TEST_F(UserSearchTest, AWrongVectorIsToldWithFramePlaneAndBlock) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("mine.cu");
  std::ofstream(file) << "#include <c63/motion_kernel.h>\n"
                         "C63_MOTION_KERNEL void __launch_bounds__(64) c63_motion(const __grid_constant__ c63_motion_batch batch) {\n"
                         "  const c63_motion_job& job = batch.jobs[blockIdx.z];\n"
                         "  const int columns = job.width / 8, block = blockIdx.y * columns + blockIdx.x;\n"
                         "  if (blockIdx.x >= columns || blockIdx.y >= job.height / 8 || threadIdx.x != 0) return;\n"
                         "  job.vectors[block] = {(signed char)(job.width < 64 && block == 5 ? -100 : 0), 0};\n"
                         "}\n";
  const test::Bytes video = test::moving_video(64, 48, 4);
  for (const Preset preset : values_of<Preset>()) {
    SCOPED_TRACE(name(preset));
    try {
      static_cast<void>(encode(file, {.coding = {.width = 64, .height = 48, .preset = preset}}, video));
      ADD_FAILURE() << "the vector was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.id(), "C63-SEARCH-VECTOR");
      EXPECT_EQ(error.place().file, "mine.cu");
      EXPECT_EQ(error.place().frame, 1);
      EXPECT_EQ(error.place().block, "U block (1, 1)");
      EXPECT_NE(error.message().find("your vector (-100, 0) is not a candidate"), std::string::npos) << error.message();
    }
  }
}

TEST_F(UserSearchTest, ASearchOfTheCpuIsRefused) {
  EncoderSettings settings{.coding = {.width = 16, .height = 16}};
  settings.coding.user_search = user_search("");
  EXPECT_EQ(test::error_id([&] { static_cast<void>(on_gpu(settings, test::moving_video(16, 16, 1))); }),
            "C63-SEARCH-DEVICE");
}

}  // namespace
}  // namespace c63::cuda
