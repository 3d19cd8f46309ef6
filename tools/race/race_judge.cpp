#include "race/race_judge.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace c63::race {
namespace {

std::uint16_t doubled(std::uint8_t byte) { return static_cast<std::uint16_t>(byte << 8 | byte); }

bool is_poison(MotionVector v, std::uint8_t poison) {
  return static_cast<std::uint8_t>(v.x) == poison && static_cast<std::uint8_t>(v.y) == poison;
}

std::string in_microseconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f us", 1e6 * seconds);
  return text.data();
}

}  // namespace

SearchResults SearchResults::poisoned(std::size_t blocks, std::uint8_t poison) {
  const auto component = static_cast<std::int8_t>(poison);
  return {std::vector<MotionVector>(blocks, {component, component}),
          std::vector<std::uint16_t>(blocks, doubled(poison))};
}

bool Judge::accepts(const MotionDifference& d) const {
  return inexact_ && (d.fault == MotionFault::not_smallest || d.fault == MotionFault::not_first ||
                      d.fault == MotionFault::leaves_window);
}

void Judge::judge(const SearchCases& search, std::uint32_t seed, int range, std::span<const std::size_t> calls,
                  int searches_again, const std::function<void(const std::string&)>& next, int part) {
  std::vector<RaceCase> all = race_cases(seed, range, part);
  std::size_t at = 0;
  for (std::size_t call = 0; at < all.size(); ++call) {
    if (wrong_cases_ >= 24 && cases_ >= 32) return;
    const std::size_t count = std::min(calls[call % calls.size()], all.size() - at);
    const std::span<RaceCase> cases = std::span(all).subspan(at, count);
    at += count;
    next(cases.front().name +
         (count > 1 ? " and " + std::to_string(count - 1) + " more planes in one call" : std::string()));
    std::vector<SearchedCase> harm(count);  // what any search has overwritten
    const auto results_of = [&](const CaseLayout& layout) {
      std::vector<SearchResults> results;
      for (SearchedCase& found : search(cases, layout)) {
        SearchedCase& all_harm = harm[results.size()];
        all_harm.past_results |= found.past_results;
        all_harm.wrote_planes |= found.wrote_planes;
        all_harm.works_after |= found.works_after;
        results.push_back(std::move(found.results));
      }
      return results;
    };
    const std::vector<SearchResults> first = results_of({.at_end = true});
    std::vector<SearchResults> again = results_of({.poison = kOtherPoison});
    for (int i = 1; i < searches_again; ++i) {
      std::vector<SearchResults> once_more = results_of({.poison = kOtherPoison});
      for (std::size_t c = 0; c < count; ++c) {
        if (again[c] == first[c]) again[c] = std::move(once_more[c]);
      }
    }
    const std::vector<RaceCase> before(cases.begin(), cases.end());
    for (RaceCase& c : cases) c.change_padding(seed + 1);
    const std::vector<SearchResults> other = results_of({.around = 0xC7});
    for (std::size_t c = 0; c < count; ++c) {
      add(before[c], first[c], again[c], other[c]);
      add_harm(before[c], harm[c]);
    }
  }
}

void Judge::check(const RaceCase& c, const SearchedCase& found) {
  add(c, found.results, found.results, found.results);
  add_harm(c, found);
}

void Judge::add_harm(const RaceCase& c, const SearchedCase& found) {
  if (found.past_results) {
    broke(c, "it writes past its results",
          {"writes-outside", "memory around the results changes: a block number that is too large, or the wrong number of columns", 1});
  }
  if (found.wrote_planes) {
    broke(c, "it writes into its planes, or around them", {"writes-planes", "the planes change: they must not be written to", 1});
  }
  if (found.works_after) {
    broke(c, "it works on after it has returned, or writes results then",
          {"works-after", "threads or streams go on after the search: when it returns, all of its work must be done", 1});
  }
}

void Judge::add(const RaceCase& c, const SearchResults& first, const SearchResults& again,
                const SearchResults& other_padding) {
  const std::size_t blocks = c.blocks();
  std::vector<std::uint8_t> unwritten(blocks);
  std::vector<std::uint8_t> unsteady(blocks);
  std::int64_t outside = 0;
  std::int64_t untold = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool is_left = is_poison(again.vectors[i], kOtherPoison) || is_poison(again.vectors[i], kPoison);
    unwritten[i] = is_poison(first.vectors[i], kPoison) && is_left ? 1 : 0;
    if (unwritten[i] != 0) continue;
    const bool sad_unwritten =
        first.sads[i] == doubled(kPoison) && (again.sads[i] == doubled(kOtherPoison) || again.sads[i] == doubled(kPoison));
    untold += sad_unwritten ? 1 : 0;
    const auto same = [&](const SearchResults& a, const SearchResults& b) {
      return a.vectors[i] == b.vectors[i] && (sad_unwritten || a.sads[i] == b.sads[i]);
    };
    if (!same(first, again)) {
      unsteady[i] = 1;
    } else if (!same(first, other_padding)) {
      ++outside;
    }
  }
  const auto previous = previous_.find(blocks);
  audit_.add({.current = c.current_view(),
              .reference = c.reference_view(),
              .range = c.range,
              .vectors = first.vectors,
              .sads = untold == static_cast<std::int64_t>(blocks) ? std::span<const std::uint16_t>() : first.sads,
              .unwritten = unwritten,
              .unsteady = unsteady,
              .previous = previous == previous_.end() ? std::span<const MotionVector>() : previous->second,
              .frame = cases_,
              .plane = c.plane});
  std::int64_t faults = untold == static_cast<std::int64_t>(blocks) ? untold : 0;
  untold_sads_ += untold;
  std::string first_fault;
  for (const MotionDifference& d : audit_.differences()) {
    impossible_sads_ += d.told_sad && *d.told_sad < d.exact_sad ? 1 : 0;
    if (accepts(d)) {  // the vector need not be the best, but the SAD must fit it
      if (!d.told_sad || *d.told_sad == d.sad) continue;
      ++false_sads_;
    }
    ++faults;
    if (first_fault.empty()) first_fault = c.name + ": " + to_string(d);
  }
  // If results change from run to run anyway, changes with the padding mean nothing.
  if (outside > 0 && audit_.totals().count(MotionFault::unsteady) == 0) {
    ++faults;
    if (first_.empty()) first_ = c.name + ": " + std::to_string(outside) + " blocks change with bytes outside the planes";
    add_cause({"reads-outside",
               "results depend on bytes outside the planes' samples: rows end at the width, not at the pitch, and planes at "
               "the last row",
               1});
  }
  if (cases_ == 0) first_was_right_ = std::ranges::equal(first.vectors, audit_.exact_vectors()) && untold == 0;
  if (first_.empty()) first_ = first_fault;
  if (faults > 0 && first_.empty()) first_ = c.name + ": no SAD was written";
  const std::pair size(c.width, c.height);
  const bool has_candidates = c.width > 8 && c.height > 8;
  if (has_candidates && faults > 0) wrong_sizes_.insert(size);
  if (has_candidates && faults == 0) right_sizes_.insert(size);
  if (faults > 0) wrong_contents_.insert(c.content);
  if (c.current_pitch != c.width || c.reference_pitch != c.width)
    ++(faults > 0 ? wrong_with_pitch_ : right_with_pitch_);
  wrong_cases_ += faults > 0 ? 1 : 0;
  if (cases_ > 0) wrong_after_first_ += faults > 0 ? 1 : 0;
  ++cases_;
  previous_[blocks].assign(audit_.exact_vectors().begin(), audit_.exact_vectors().end());
}

void Judge::check_times(const RaceTimes& t) {
  // Caches and other load change times, too, but not that much.
  constexpr double kReplayShare = 0.25;
  if (t.again < kReplayShare * t.fastest && t.fastest > t.shortest) {
    stopped("planes that it has seen before take " + in_microseconds(t.again) + ", others at least " + in_microseconds(t.fastest),
            {"replays", "it keeps results and gives them again: each search must compute its own", 1});
  }
  if (t.median < t.read) {
    stopped("it takes " + in_microseconds(t.median) + ", and reading both planes takes " + in_microseconds(t.read),
            {"impossible", std::string("faster than this ") + t.hardware + " can read the planes", 1});
  }
}

void Judge::stopped(const std::string& what, MotionSuspicion cause) {
  if (first_.empty()) first_ = what;
  causes_.insert(causes_.begin(), std::move(cause));
  ++wrong_cases_;
}

void Judge::broke(const RaceCase& c, const std::string& what, MotionSuspicion cause) {
  if (first_.empty()) first_ = c.name + ": " + what;
  add_cause(std::move(cause));
  ++wrong_cases_;
}

void Judge::add_cause(MotionSuspicion cause) {
  const auto is_known = [&](const MotionSuspicion& known) { return known.id == cause.id; };
  if (std::ranges::none_of(causes_, is_known)) causes_.push_back(std::move(cause));
}

// In small planes, the picture's border hides mistakes in the window: that they alone are right says nothing.
bool Judge::only_one_size_is_right() const {
  if (right_sizes_.size() < 2) return false;
  const std::pair<int, int> only = *right_sizes_.begin();
  if (right_sizes_.count(only) < right_sizes_.size() || wrong_sizes_.contains(only)) return false;
  return std::ranges::any_of(wrong_sizes_, [&](const auto& size) { return size.first <= only.first && size.second <= only.second; });
}

Verdict Judge::verdict() const {
  Verdict v{.is_right = wrong_cases_ == 0 && cases_ > 0,
            .first = first_,
            .suspicions = causes_,
            .totals = audit_.totals(),
            .cases = cases_,
            .wrong_cases = wrong_cases_};
  if (v.is_right) return v;
  if (first_was_right_ && cases_ > 1 && wrong_after_first_ * 5 >= (cases_ - 1) * 4) {
    v.suspicions.push_back(
        {"first-time-only",
         "the first search is right, later ones are not: a value is kept from the previous call and not reset", 1});
  }
  if (only_one_size_is_right()) {
    v.suspicions.push_back({"one-size-only",
                            std::string("only planes of ") + std::to_string(right_sizes_.begin()->first) + "x" +
                                std::to_string(right_sizes_.begin()->second) +
                                " are right: the code contains a fixed size; use the job's size",
                            1});
  }
  if (wrong_with_pitch_ > 0 && wrong_with_pitch_ == wrong_cases_) {
    v.suspicions.push_back(
        {"pitch-only", "only planes with a pitch above their width are wrong: the distance between rows is the pitch",
         1});
  }
  if (untold_sads_ > 0) v.suspicions.push_back({"sads-not-written", "SADs are not written", 1});
  if (false_sads_ > 0) v.suspicions.push_back({"sad-only", "SADs are not those of the vectors", 1});
  for (MotionSuspicion& s : audit_.suspicions()) {
    if (!inexact_ || s.id != "descent") v.suspicions.push_back(std::move(s));
  }
  if (v.suspicions.empty() && impossible_sads_ * 2 > audit_.totals().differing()) {
    v.suspicions.push_back({"impossible-sad",
                            "reported SADs are below the smallest possible SAD: memory that nobody has set, a missing "
                            "barrier, or a number that overflows",
                            1});
  }
  if (wrong_contents_.size() == 1 && v.suspicions.empty()) {
    v.suspicions.push_back(
        {"one-content-only", "only the content '" + *wrong_contents_.begin() + "' is wrong", 1});
  }
  return v;
}

std::string name_of(const Verdict& v) {
  const bool is_impossible = std::ranges::any_of(v.suspicions, [](const MotionSuspicion& s) { return s.id == "impossible"; });
  return v.is_right ? "right" : is_impossible ? "impossible" : "wrong";
}

std::string to_string(const Verdict& v) {
  if (v.is_right) {
    const std::int64_t others = v.totals.differing();
    return (others == 0 ? "right in all " : "inexact, as allowed, in ") + std::to_string(v.cases) + " cases (" + std::to_string(v.totals.blocks) +
           " blocks" + (others == 0 ? "" : ", " + std::to_string(others) + " with other results than exact search") + ")";
  }
  std::string text =
      std::string("WRONG in ") + std::to_string(v.wrong_cases) + " of " + std::to_string(std::max(v.cases, v.wrong_cases)) + " cases\n  " + v.first;
  for (const MotionSuspicion& s : v.suspicions) text += "\n  suspicion: " + s.text + " [" + s.id + "]";
  return text;
}

}  // namespace c63::race
