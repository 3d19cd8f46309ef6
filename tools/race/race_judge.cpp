#include "race/race_judge.h"

#include <algorithm>
#include <utility>

namespace c63::race {
namespace {

std::uint16_t doubled(std::uint8_t byte) { return static_cast<std::uint16_t>(byte << 8 | byte); }

bool is_poison(MotionVector v, std::uint8_t poison) {
  return static_cast<std::uint8_t>(v.x) == poison && static_cast<std::uint8_t>(v.y) == poison;
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

void Judge::add(const RaceCase& c, const CaseResults& r) {
  const std::size_t blocks = c.blocks();
  std::vector<std::uint8_t> unwritten(blocks);
  std::vector<std::uint8_t> unsteady(blocks);
  std::int64_t outside = 0;
  std::int64_t untold = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    unwritten[i] = is_poison(r.first.vectors[i], kPoison) && is_poison(r.again.vectors[i], kOtherPoison) ? 1 : 0;
    if (unwritten[i] != 0) continue;
    const bool sad_unwritten = r.first.sads[i] == doubled(kPoison) && r.again.sads[i] == doubled(kOtherPoison);
    untold += sad_unwritten ? 1 : 0;
    const auto same = [&](const SearchResults& a, const SearchResults& b) {
      return a.vectors[i] == b.vectors[i] && (sad_unwritten || a.sads[i] == b.sads[i]);
    };
    if (!same(r.first, r.again)) {
      unsteady[i] = 1;
    } else if (!same(r.first, r.other_padding)) {
      ++outside;
    }
  }
  const auto previous = previous_.find(blocks);
  audit_.add({.current = c.current_view(),
              .reference = c.reference_view(),
              .range = c.range,
              .vectors = r.first.vectors,
              .sads = untold == static_cast<std::int64_t>(blocks) ? std::span<const std::uint16_t>() : r.first.sads,
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
  if (cases_ == 0) first_was_right_ = std::ranges::equal(r.first.vectors, audit_.exact_vectors()) && untold == 0;
  if (first_.empty()) first_ = first_fault;
  if (faults > 0 && first_.empty()) first_ = c.name + ": no SAD was written";
  const std::pair size(c.width, c.height);
  const bool has_candidates = c.width > 8 && c.height > 8;
  if (has_candidates) (faults > 0 ? wrong_sizes_ : right_sizes_).insert(size);
  if (faults > 0) wrong_contents_.insert(c.content);
  if (c.current_pitch != c.width || c.reference_pitch != c.width)
    ++(faults > 0 ? wrong_with_pitch_ : right_with_pitch_);
  wrong_cases_ += faults > 0 ? 1 : 0;
  if (cases_ > 0) wrong_after_first_ += faults > 0 ? 1 : 0;
  ++cases_;
  previous_[blocks].assign(audit_.exact_vectors().begin(), audit_.exact_vectors().end());
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

Verdict Judge::verdict() const {
  Verdict v{.is_right = wrong_cases_ == 0 && cases_ > 0,
            .first = first_,
            .suspicions = causes_,
            .totals = audit_.totals(),
            .cases = cases_,
            .wrong_cases = wrong_cases_};
  if (v.is_right) return v;
  std::set<std::pair<int, int>> only_right;
  std::ranges::set_difference(right_sizes_, wrong_sizes_, std::inserter(only_right, only_right.end()));
  if (first_was_right_ && cases_ > 1 && wrong_after_first_ * 5 >= (cases_ - 1) * 4) {
    v.suspicions.push_back(
        {"first-time-only",
         "the first search is right, later ones are not: a value is kept from the previous call and not reset", 1});
  }
  if (only_right.size() == 1 && wrong_sizes_.size() > 2) {
    v.suspicions.push_back({"one-size-only",
                            std::string("only planes of ") + std::to_string(only_right.begin()->first) + "x" +
                                std::to_string(only_right.begin()->second) +
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

std::string to_string(const Verdict& v) {
  if (v.is_right) return std::string("right in all ") + std::to_string(v.cases) + " cases (" + std::to_string(v.totals.blocks) + " blocks)";
  std::string text =
      std::string("WRONG in ") + std::to_string(v.wrong_cases) + " of " + std::to_string(std::max(v.cases, v.wrong_cases)) + " cases\n  " + v.first;
  for (const MotionSuspicion& s : v.suspicions) text += "\n  suspicion: " + s.text + " [" + s.id + "]";
  return text;
}

}  // namespace c63::race
