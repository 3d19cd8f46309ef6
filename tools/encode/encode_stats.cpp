#include "encode/encode_stats.h"

#include <spdlog/logger.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "c63/error.h"
#include "c63/options.h"
#include "common/json.h"
#include "common/report.h"
#include "common/digest.h"
#include "encode/encode_options.h"
#include "segments/segment_record.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kMostStatsBytes = std::uint64_t{16} << 20;

/// Returns everything that a pass's result depends on, except the quality: input, content and settings.
ordered_json identity_of(const EncodeOptions& o) {
  ordered_json settings = settings_of_record(o);
  settings.erase("qp");
  settings.erase("lambda-scale");
  const InputIdentity input = identify_input(o.source.path);
  ordered_json content = {{"bytes", input.bytes}};
  if (o.target.spool.empty()) {
    content["sample_sha256"] = input.sample_sha256;
    content["modified_ns"] = input.modified_ns;
  } else {
    // A spooled file is written again each time, so its time says nothing. Its whole content is compared instead.
    content["sha256"] = sha256_of_file(o.source.path, input.bytes);
  }
  return {{"input", o.target.input}, {"content", content}, {"settings", settings}};
}

TargetPass pass_from(const ordered_json& json, double frames_per_s) {
  // A file with values outside these limits was not written by c63enc, whatever the preset.
  constexpr double kMostDecibels = 1000;
  const auto setting = [&](const char* key, const OptionInfo& option) { return number_from(json.at(key), option.least, option.most); };
  const auto quality = [&](const char* key, double low, double high,
                           std::optional<double> of_null) -> std::optional<double> {
    if (!json.contains(key)) return std::nullopt;
    return json.at(key).is_null() ? of_null : number_from(json.at(key), low, high);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::optional<std::uint64_t> key_bytes;
  if (const auto& value = json.at("key_bytes"); !value.is_null()) key_bytes = whole_number_from<std::uint64_t>(value, 1);
  return {setting("qp", option_info("qp")),
          setting("lambda_scale", option_info("lambda-scale")),
          {.frames = whole_number_from<std::int64_t>(json.at("frames"), 1),
           .bytes = whole_number_from<std::uint64_t>(json.at("bytes"), 1),
           .frames_per_s = frames_per_s,
           .psnr_y_db = quality("psnr_y_db", 0, kMostDecibels, kInfinity),
           .psnr_all_db = quality("psnr_all_db", 0, kMostDecibels, kInfinity),
           .ssim_y = quality("ssim_y", -1, 1, std::nullopt),
           .key_bytes = key_bytes}};
}

}  // namespace

StatsFile::StatsFile(const EncodeOptions& options)
    : path_(options.target.stats), durability_(options.durability), encode_(identity_of(options)) {}

std::vector<TargetPass> StatsFile::load(double frames_per_s, spdlog::logger& log) const {
  std::error_code fault;
  if (!std::filesystem::exists(path_, fault)) return {};
  std::vector<TargetPass> passes;
  read_json(path_, kMostStatsBytes, "C63-STATS", "this is not a statistics file of c63enc", [&](const ordered_json& json) {
    const ordered_json& entries = json.at("passes");
    if (json.at("encode") != encode_) {
      log.warn("{}: holds the passes of another encode, which are not used", path_);
      return;
    }
    if (!entries.is_array()) throw std::runtime_error("its passes are not a list");
    for (const ordered_json& entry : entries) passes.push_back(pass_from(entry, frames_per_s));
  });
  return passes;
}

void StatsFile::save(const std::vector<TargetPass>& passes) const {
  ordered_json json = {{"encode", encode_}, {"passes", ordered_json::array()}};
  for (const TargetPass& pass : passes) json["passes"].push_back(to_json(pass));
  write_json(path_, json, durability_);
}

}  // namespace c63::tools
