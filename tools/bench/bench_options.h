#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace c63::bench {

struct CpuBenchOptions {
  std::string video;  ///< raw 4:2:0; empty: generated frames
  int width = 352;
  int height = 288;
  int frame = 60;  ///< first frame that is used
  int rounds = 15;
  std::string only;  ///< measure only kernels whose name and level contain this; empty: all
  std::string json;
  std::vector<std::string> searches;  ///< files with users' searches
  int range = 16;
  bool inexact = false;
  bool in_process = false;
  std::uint32_t seed = 0;  ///< of the random test cases; 0: taken from the clock
  double limit_s = 60;     ///< time limit for each file
};

struct StageBenchOptions {
  std::string yuv;
  int width = 352;
  int height = 288;
  int frames = 61;  ///< one of them is a key frame, which is not counted
  std::vector<std::string> presets = {"reference", "fast", "good"};
  std::vector<double> qps = {10, 25};
  std::string simd;  ///< instruction set; empty: the best of this machine
  int repeats = 7;
  std::string json;
};

struct DecodeBenchOptions {
  std::vector<std::string> streams;
  std::vector<int> threads = {1, 2};
  std::vector<std::string> outputs = {"views", "copies"};
  std::vector<std::string> backends = {"cpu"};
  int repeats = 7;
  std::string json;
};

struct EstimateBenchOptions {
  std::string size = "1920x1080";
  int frames = 9;
  int range = 16;
  int repeats = 5;
  std::vector<std::string> only = {"opencv", "ffmpeg", "gpu", "nvidia"};  ///< groups of estimators beside c63's on the CPU
  std::string python = "python3";
  std::string json;
};

/// Options of `c63bench filter` and `c63bench scan`.
struct FilterBenchOptions {
  double megabytes = 256;  ///< size of the input, for filters that memory limits
  int repeats = 15;
  std::string json;
  std::vector<std::string> only;  ///< names of filters to measure; empty: all
  int device = 0;
  int threads = 0;  ///< threads of the CPU; 0: one for each CPU
  bool cpu = true;
  bool cuda = true;
};

struct EncodeBenchOptions {
  std::vector<std::string> sizes = {"352x288", "1920x1080"};
  std::vector<int> lanes = {0, 1};
  std::vector<int> devices = {};
  int threads = 0;  ///< threads of the CPU; 0: one for each CPU
  std::string kernel = "automatic";
  std::vector<std::string> presets = {"reference"};
  std::string tune = "psnr";
  double qp = 25;
  std::string upload = "frame";
  std::vector<std::string> launch = {"auto"};
  std::string yuv;
  std::vector<std::string> from = {"memory"};
  std::string json;
  int key_interval = 100;
  int gops = 16;
  int repeats = 5;
};

struct FrameBenchOptions {
  std::vector<std::string> sizes = {"352x288", "1920x1080", "3840x2160"};
  std::string kernel = "automatic";
  std::string yuv;
  std::string json;
  int lanes = 1;
  int repeats = 50;
  int device = 0;
};

struct DecideBenchOptions {
  std::vector<std::string> sizes = {"352x288", "1920x1080"};
  std::vector<std::string> presets = {"fast", "good"};
  std::vector<int> lanes = {1, 8, 32};
  std::string yuv;
  std::string json;
  double qp = 25;
  int repeats = 15;
  int device = 0;
};

struct MeBenchOptions {
  std::vector<std::string> sizes = {"352x288", "1280x720", "1920x1080", "3840x2160"};
  std::vector<std::string> kernels;
  std::vector<std::string> contents = {"natural", "noise"};
  std::vector<int> jobs = {1, 8};
  std::string yuv;
  std::string yuv_size;
  std::string json;
  std::string html;
  std::string cpu;  ///< file with results of c63bench cpu, for the page
  int frames = 9;
  int range = 16;
  int repeats = 30;
  int device = 0;
  bool verify = false;
  std::vector<std::string> files;  ///< files with users' kernels
  bool inexact = false;
  bool counters = false;  ///< ask ncu what limits the kernel
  bool in_process = false;
  std::uint32_t seed = 0;  ///< of the random test cases; 0: taken from the clock
  double limit_s = 60;     ///< time limit for each file
};

struct PageOptions {
  std::string figures;
  std::string cpu;
  std::string output;
};

/// Options of `c63bench board`.
struct BoardOptions {
  std::vector<std::string> results;
  std::string output;
};

void add_options(CLI::App& app, CpuBenchOptions& options);
void add_options(CLI::App& app, StageBenchOptions& options);
void add_options(CLI::App& app, DecodeBenchOptions& options);
void add_options(CLI::App& app, EstimateBenchOptions& options);
void add_options(CLI::App& app, FilterBenchOptions& options);
void add_options(CLI::App& app, EncodeBenchOptions& options);
void add_options(CLI::App& app, FrameBenchOptions& options);
void add_options(CLI::App& app, DecideBenchOptions& options);
void add_options(CLI::App& app, MeBenchOptions& options);
void add_options(CLI::App& app, PageOptions& options);
void add_options(CLI::App& app, BoardOptions& options);

}  // namespace c63::bench
