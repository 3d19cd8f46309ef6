#include "motion/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

namespace c63::tools {
namespace {

/// Upper ends of the histogram's bins.
constexpr std::array kBins = {0, 1, 2, 4, 8, 16, 32, 64, 127};
constexpr std::size_t kMostFrequent = 5;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void MotionSummary::add(const MotionFrame& frame, const MotionTruth* truth) {
  ++frames_;
  if (frame.blocks.key) ++key_frames_;
  if (frame.blocks.repeat) ++repeats_;
  if (frame.blocks.key || frame.blocks.repeat) return;
  const PlaneBlocks& luma = frame.blocks.planes[0];
  for (std::size_t i = 0; i < luma.vectors.size(); ++i) {
    ++blocks_;
    if (luma.inter[i] != 0) {
      ++counts_[{luma.vectors[i].x, luma.vectors[i].y}];
      sad_ += frame.sads[0][i];
    }
    bits_[0] += luma.motion_bits[i];
    bits_[1] += luma.coefficient_bits[i];
  }
  sad_of_source_ = frame.sad_of_source;
  if (truth != nullptr) {
    with_truth_ = true;
    for (const double error : truth->endpoint_errors(frame.index, frame.blocks)) errors_.push_back(static_cast<float>(error));
  }
}

std::uint64_t MotionSummary::vectors() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

double MotionSummary::zero_share() const {
  const auto zero = counts_.find({0, 0});
  return zero == counts_.end() ? 0 : share(zero->second, vectors());
}

double MotionSummary::mean_length() const {
  double sum = 0;
  for (const auto& [vector, count] : counts_) sum += std::hypot(vector.first, vector.second) * static_cast<double>(count);
  return vectors() == 0 ? 0 : sum / static_cast<double>(vectors());
}

std::vector<std::pair<std::string, std::uint64_t>> MotionSummary::histogram() const {
  std::vector<std::pair<std::string, std::uint64_t>> bins;
  int low = 0;
  for (const int high : kBins) {
    bins.emplace_back(low == high ? std::to_string(low) : fmt::format("{}..{}", low, high), 0);
    low = high + 1;
  }
  for (const auto& [vector, count] : counts_) {
    const int length = std::max(std::abs(vector.first), std::abs(vector.second));
    const auto bin = std::lower_bound(kBins.begin(), kBins.end() - 1, length) - kBins.begin();
    bins[static_cast<std::size_t>(bin)].second += count;
  }
  while (bins.size() > 1 && bins.back().second == 0) bins.pop_back();
  return bins;
}

double MotionSummary::mean_error() const {
  return errors_.empty() ? 0 : std::accumulate(errors_.begin(), errors_.end(), 0.0) / static_cast<double>(errors_.size());
}

double MotionSummary::median_error() const {
  if (errors_.empty()) return 0;
  std::vector<float> sorted = errors_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double MotionSummary::exact_share() const {
  const auto exact = std::count_if(errors_.begin(), errors_.end(), [](float e) { return e < 0.5F; });
  return share(static_cast<std::uint64_t>(exact), errors_.size());
}

std::string MotionSummary::text(bool with_histogram) const {
  std::string text = fmt::format("frames {}: key {}, inter {}", frames_, key_frames_, frames_ - key_frames_ - repeats_);
  text += repeats_ > 0 ? fmt::format(", repeats {}\n", repeats_) : "\n";
  if (vectors() == 0) return text + "no vectors\n";
  text += fmt::format("luma vectors {}: {:.1f} % zero, mean length {:.2f} samples, {} different\n", vectors(),
                      100 * zero_share(), mean_length(), counts_.size());
  if (blocks_ > vectors()) text += fmt::format("blocks without a vector: {} of {}\n", blocks_ - vectors(), blocks_);
  if (with_histogram) {
    text += "longer component:\n";
    for (const auto& [label, count] : histogram()) {
      const double part = share(count, vectors());
      text += fmt::format("  {:>7}  {:>5.1f} %  {}\n", label, 100 * part,
                          std::string(static_cast<std::size_t>(std::lround(50 * part)), '#'));
    }
  }
  std::vector<std::pair<std::uint64_t, std::pair<int, int>>> frequent;
  for (const auto& [vector, count] : counts_) frequent.emplace_back(count, vector);
  std::sort(frequent.rbegin(), frequent.rend());
  text += "most frequent:";
  for (std::size_t i = 0; i < std::min(kMostFrequent, frequent.size()); ++i) {
    text += fmt::format("{} {},{} {:.1f} %", i == 0 ? "" : ";", frequent[i].second.first, frequent[i].second.second,
                        100 * share(frequent[i].first, vectors()));
  }
  text += fmt::format("\nmean SAD of a predicted block {:.1f} ({} against prediction), bits of a block: vector {:.2f}, coefficients {:.2f}\n",
                      share(sad_, vectors()), sad_of_source_ ? "source" : "reconstruction", share(bits_[0], blocks_),
                      share(bits_[1], blocks_));
  if (with_truth_) {
    text += fmt::format("endpoint error over {} blocks: mean {:.3f} samples, median {:.3f}, {:.1f} % within half a sample\n",
                        errors_.size(), mean_error(), median_error(), 100 * exact_share());
  }
  return text;
}

nlohmann::ordered_json MotionSummary::json() const {
  nlohmann::ordered_json json = {{"frames", frames_},
                                 {"key_frames", key_frames_},
                                 {"repeat_frames", repeats_},
                                 {"luma_blocks", blocks_},
                                 {"luma_vectors", vectors()},
                                 {"zero_share", zero_share()},
                                 {"mean_length_samples", mean_length()},
                                 {"mean_sad", share(sad_, vectors())},
                                 {"sad_of", sad_of_source_ ? "source" : "reconstruction"},
                                 {"mean_vector_bits", share(bits_[0], blocks_)},
                                 {"mean_coefficient_bits", share(bits_[1], blocks_)}};
  nlohmann::ordered_json& bins = json["histogram"] = nlohmann::ordered_json::object();
  for (const auto& [label, count] : histogram()) bins[label] = count;
  if (with_truth_) {
    json["endpoint_error"] = {{"blocks", errors_.size()},
                              {"mean_samples", mean_error()},
                              {"median_samples", median_error()},
                              {"share_within_half_a_sample", exact_share()}};
  }
  return json;
}

}  // namespace c63::tools
