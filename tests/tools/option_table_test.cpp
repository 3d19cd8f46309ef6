// Tests that one table of options serves everything that shows, parses, stores or checks options.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "c63/error.h"
#include "c63/options.h"
#include "common/report.h"
#include "encode/encode_options.h"

namespace c63::tools {
namespace {

/// Returns a value within the option's range that differs from `value`.
template <typename T>
T other_than(const T& value, const OptionInfo& option) {
  if constexpr (std::is_same_v<T, bool>) {
    return !value;
  } else if constexpr (std::is_enum_v<T>) {
    return names_of<T>().back().first;
  } else {
    const T least = std::isfinite(option.least) ? static_cast<T>(option.least) : T{1};
    return value == least ? static_cast<T>(least + T{1}) : least;
  }
}
template <typename T>
std::optional<T> other_than(const std::optional<T>& value, const OptionInfo& option) {
  return other_than(value.value_or(T{}), option);
}

TEST(OptionTable, NamesAreUniqueAndExplained) {
  std::set<std::string_view> names;
  for (const OptionInfo& option : all_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty() || option.group.empty()) << option.name;
    EXPECT_FALSE(option.help.ends_with('.')) << option.name;
    EXPECT_EQ(&option_info(option.name), &option);
  }
  EXPECT_EQ(details_of(option_info("beam")), "1 to 8; reference: 1, fast: 1, good: 4, best: 8");
  EXPECT_EQ(details_of(option_info("keyint")), "at least 1");
  EXPECT_EQ(details_of(option_info("tables")), "reference: course, fast: flat, good: flat, best: flat");
}

TEST(OptionTable, EveryOptionOfTheEncodeIsInTheReport) {
  EncodeOptions defaults;
  const auto untouched = settings_json(defaults.encoder);
  for_each_option(defaults.encoder, [&](const OptionInfo& option, const auto& value) {
    SCOPED_TRACE(option.name);
    using Value = std::decay_t<decltype(value)>;
    const Value wanted = other_than(value, option);
    const auto json = [&] {
      EncoderSettings s;
      for_each_option(s, [&](const OptionInfo& other, auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Value>) {
          if (other.name == option.name) field = wanted;
        }
      });
      return settings_json(s);
    }();
    EXPECT_EQ(json != untouched, option.group != "Measurement");
  });
}

TEST(OptionTable, ARecordHasWhatChangesBytesAndNothingElse) {
  const EncodeOptions options;
  const auto record = settings_of_record(options);
  for (const OptionInfo& option : all_options()) {
    EXPECT_EQ(record.contains(std::string(option.name)), option.changes_bytes()) << option.name;
  }
  EncodeOptions other;
  other.encoder.coding.rate.beam = 3;
  EXPECT_NE(settings_of_record(other), record);
  EXPECT_EQ(settings_of_record(other)["beam"], 3);
  EncodeOptions exhaustive;
  exhaustive.encoder.coding.method = SearchMethod::full_brute;
  EXPECT_EQ(settings_of_record(exhaustive), record) << "exhaustive methods give the same bytes";
}

TEST(OptionTable, ValuesOutsideTheRangeAreRefusedByTheRowsId) {
  int refused = 0;
  const auto check = [&](const OptionInfo& option, double value) {
    EncoderSettings s{.coding = {.width = 32, .height = 32}};
    for_each_option(s, [&](const OptionInfo& other, auto& field) {
      using Value = std::decay_t<decltype(field)>;
      if (other.name != option.name) return;
      if constexpr (std::is_same_v<Value, int> || std::is_same_v<Value, std::optional<int>>) field = static_cast<int>(value);
      if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>) field = value;
    });
    try {
      validate(s);
      ADD_FAILURE() << option.name << " took " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.id(), option.range_id);
      EXPECT_TRUE(error.message().starts_with(std::string(option.name) + " ")) << error.message();
      ++refused;
    }
  };
  for (const OptionInfo& option : all_options()) {
    if (option.range_id.empty()) continue;
    check(option, option.least - 1);
    if (std::isfinite(option.most)) check(option, option.most + 1);
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace c63::tools
