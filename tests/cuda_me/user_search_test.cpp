// Encodes with a search that a user wrote (c63/user_search.h). In every preset, a GPU must give the bytes of the CPU.

#include "c63/user_search.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "backend_test_support.h"
#include "c63/error.h"
#include "c63/motion_kernel.h"
#include "support/expect_error.h"
#include "support/generators.h"
#include "support/motion_definition.h"
#include "support/temporary_folder.h"

namespace c63::cuda {
namespace {

/// The search by its definition.
void search_exactly(const c63_motion_job& job) {
  const MotionPair pair{{job.current, job.width, job.height, job.current_pitch},
                        {job.reference, job.width, job.height, job.reference_pitch}};
  const test::FoundMotion found = test::defined_motion({&pair, 1}, {.range = job.range}, nullptr);
  std::memcpy(job.vectors, found.vectors.data(), found.vectors.size() * sizeof(MotionVector));
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
    const auto error = test::expect_error(ErrorKind::usage, "C63-SEARCH-VECTOR", [&] {
      static_cast<void>(encode(file, {.coding = {.width = 64, .height = 48, .preset = preset}}, video));
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->place().file, "mine.cu");
    EXPECT_EQ(error->place().frame, 1);
    EXPECT_EQ(error->place().block, "U block (1, 1)");
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
