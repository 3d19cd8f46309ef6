#include "motion/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

namespace c63::tools {
namespace {

/// Upper limits of the histogram's bins, inclusive.
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
  film_ = frame.film != nullptr;
  if (frame.blocks.key || frame.blocks.repeat) return;
  const PlaneBlocks& luma = frame.blocks.planes[0];
  for (std::size_t i = 0; i < luma.vectors.size(); ++i) {
    ++blocks_;
    if (luma.inter[i] != 0) {
      ++counts_[static_cast<std::size_t>((luma.vectors[i].y + 128) * 256 + luma.vectors[i].x + 128)];
      sad_ += frame.sads[0][i];
    }
    if (film_) continue;
    bits_[0] += luma.motion_bits[i];
    bits_[1] += luma.coefficient_bits[i];
  }
  if (frame.codec() != nullptr) add_codec(frame);
  sad_of_source_ = frame.sad_of_source;
  if (truth != nullptr) {
    with_truth_ = true;
    for (const double error : truth->endpoint_errors(frame.index, frame.blocks, frame.film)) errors_.push_back(static_cast<float>(error));
  }
}

void MotionSummary::add_codec(const MotionFrame& frame) {
  if (!codec_) codec_ = Codec();
  const PlaneBlocks& luma = frame.blocks.planes[0];
  const CodecField& field = *frame.codec();
  bool has_vectors = false;
  for (std::size_t i = 0; i < luma.vectors.size(); ++i) {
    if (field.inter[i] == 0) continue;
    has_vectors = true;
    ++codec_->blocks;
    codec_->sad += field.sads[i];
    codec_->exact_sad += frame.sads[0][i];
    const double quarters = std::hypot(field.vectors[i].x - CodecField::kUnits * luma.vectors[i].x,
                                       field.vectors[i].y - CodecField::kUnits * luma.vectors[i].y);
    codec_->distance += quarters / CodecField::kUnits;
    ++codec_->distances[static_cast<std::size_t>(std::min<double>(std::ceil(quarters), Codec::kMostDistance))];
  }
  if (has_vectors) ++codec_->references[frame.film->index - frame.film->reference];
}

std::string MotionSummary::codec_text() const {
  if (codec_->blocks == 0) return "the codec exports no vectors from earlier frames\n";
  std::string references;
  for (const auto& [distance, count] : codec_->references) {
    references += fmt::format("{}{} ({} frames)", references.empty() ? "" : ", ", distance, count);
  }
  const auto json = codec_json();
  return fmt::format("codec's vectors: {} blocks; reference that fits best, in frames before: {}\n", codec_->blocks,
                     references) +
         fmt::format(
             "distance from the exact vectors: mean {:.2f} samples, median {:.2f}, {:.1f} % within one sample\n",
             json["mean_distance_samples"].get<double>(), json["median_distance_samples"].get<double>(),
             100 * json["share_within_a_sample"].get<double>()) +
         fmt::format("mean SAD, whole samples: codec's {:.1f}, exact {:.1f}: {:.3f} times\n",
                     json["mean_sad"].get<double>(), json["mean_exact_sad"].get<double>(),
                     share(codec_->sad, codec_->exact_sad));
}

nlohmann::ordered_json MotionSummary::codec_json() const {
  const Codec& codec = *codec_;
  std::uint64_t passed = 0;
  std::size_t median = 0;
  while (median + 1 < codec.distances.size() && 2 * (passed += codec.distances[median]) < codec.blocks) ++median;
  const std::uint64_t near = std::accumulate(codec.distances.begin(), codec.distances.begin() + CodecField::kUnits + 1, std::uint64_t{0});
  nlohmann::ordered_json references = nlohmann::ordered_json::object();
  for (const auto& [distance, count] : codec.references) references[std::to_string(distance)] = count;
  return {{"blocks", codec.blocks},
          {"frames_by_reference_distance", references},
          {"mean_distance_samples", codec.blocks == 0 ? 0 : codec.distance / static_cast<double>(codec.blocks)},
          {"median_distance_samples", static_cast<double>(median) / CodecField::kUnits},
          {"share_within_a_sample", share(near, codec.blocks)},
          {"mean_sad", share(codec.sad, codec.blocks)},
          {"mean_exact_sad", share(codec.exact_sad, codec.blocks)}};
}

std::uint64_t MotionSummary::vectors() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

double MotionSummary::zero_share() const {
  constexpr std::size_t kZero = 128 * 256 + 128;
  return share(counts_[kZero], vectors());
}

double MotionSummary::mean_length() const {
  double sum = 0;
  for (std::size_t place = 0; place < kVectors; ++place) {
    const auto [x, y] = vector_of(place);
    sum += std::hypot(x, y) * static_cast<double>(counts_[place]);
  }
  return vectors() == 0 ? 0 : sum / static_cast<double>(vectors());
}

std::vector<std::pair<std::string, std::uint64_t>> MotionSummary::histogram() const {
  std::vector<std::pair<std::string, std::uint64_t>> bins;
  int low = 0;
  for (const int high : kBins) {
    bins.emplace_back(low == high ? std::to_string(low) : fmt::format("{}..{}", low, high), 0);
    low = high + 1;
  }
  for (std::size_t place = 0; place < kVectors; ++place) {
    const auto [x, y] = vector_of(place);
    const int length = std::max(std::abs(x), std::abs(y));
    const auto bin = std::lower_bound(kBins.begin(), kBins.end() - 1, length) - kBins.begin();
    bins[static_cast<std::size_t>(bin)].second += counts_[place];
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
  std::string text = film_ ? fmt::format("frames {}: searched {}, without a reference {}", frames_, frames_ - key_frames_, key_frames_)
                           : fmt::format("frames {}: key {}, inter {}", frames_, key_frames_, frames_ - key_frames_ - repeats_);
  text += repeats_ > 0 ? fmt::format(", repeats {}\n", repeats_) : "\n";
  if (vectors() == 0) return text + "no vectors\n";
  text += fmt::format("luma vectors {}: {:.1f} % zero, mean length {:.2f} samples, {} distinct vectors\n", vectors(),
                      100 * zero_share(), mean_length(),
                      std::ranges::count_if(counts_, [](std::uint64_t count) { return count > 0; }));
  if (blocks_ > vectors()) text += fmt::format("blocks without a vector: {} of {}\n", blocks_ - vectors(), blocks_);
  if (with_histogram) {
    text += "longer component of the vectors, in samples:\n";
    for (const auto& [label, count] : histogram()) {
      const double part = share(count, vectors());
      text += fmt::format("  {:>7}  {:>5.1f} %  {}\n", label, 100 * part,
                          std::string(static_cast<std::size_t>(std::lround(50 * part)), '#'));
    }
  }
  std::vector<std::pair<std::uint64_t, std::pair<int, int>>> frequent;
  for (std::size_t place = 0; place < kVectors; ++place) {
    if (counts_[place] > 0) frequent.emplace_back(counts_[place], vector_of(place));
  }
  std::sort(frequent.rbegin(), frequent.rend());
  text += "most frequent:";
  for (std::size_t i = 0; i < std::min(kMostFrequent, frequent.size()); ++i) {
    text += fmt::format("{} {},{} {:.1f} %", i == 0 ? "" : ";", frequent[i].second.first, frequent[i].second.second,
                        100 * share(frequent[i].first, vectors()));
  }
  if (film_) {
    text += fmt::format("\nmean SAD of a block {:.1f}\n", share(sad_, vectors()));
  } else {
    text += fmt::format(
        "\nmean SAD of a predicted block {:.1f} ({} against prediction), bits of a block: vector {:.2f}, coefficients {:.2f}\n",
        share(sad_, vectors()), sad_of_source_ ? "source" : "reconstruction", share(bits_[0], blocks_), share(bits_[1], blocks_));
  }
  if (codec_) text += codec_text();
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
                                 {"sad_of", sad_of_source_ ? "source" : "reconstruction"}};
  if (!film_) {
    json["mean_vector_bits"] = share(bits_[0], blocks_);
    json["mean_coefficient_bits"] = share(bits_[1], blocks_);
  }
  if (codec_) json["codec"] = codec_json();
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
