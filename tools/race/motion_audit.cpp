#include "race/motion_audit.h"

#include <algorithm>
#include <utility>

#include "c63/motion.h"
#include "codec/search_window.h"

namespace c63 {
namespace {

std::uint32_t sad_at(const FoundMotion& found, int column, int row, MotionVector v) {
  std::uint32_t sad = 0;
  for (int y = 0; y < kBlockSize; ++y) {
    const std::uint8_t* const a = &found.current.at(column * kBlockSize, row * kBlockSize + y);
    const std::uint8_t* const b = &found.reference.at(column * kBlockSize + v.x, row * kBlockSize + v.y + y);
    for (int x = 0; x < kBlockSize; ++x) sad += static_cast<std::uint32_t>(a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]);
  }
  return sad;
}

MotionField exact_motion(const FoundMotion& found) {
  if (found.range > 0) return estimate_motion(found.current, found.reference, found.range);
  // Range 0 has no candidates, so every block has the zero vector.
  MotionField field{found.current.width / kBlockSize, found.current.height / kBlockSize, {}, {}};
  field.vectors.resize(found.vectors.size());
  for (int row = 0; row < field.rows; ++row) {
    for (int column = 0; column < field.columns; ++column) {
      field.sads.push_back(static_cast<std::uint16_t>(sad_at(found, column, row, {})));
    }
  }
  return field;
}

bool is_candidate(const FoundMotion& found, int column, int row, MotionVector v) {
  const SearchWindow w = search_window(column, row, found.current.width, found.current.height, found.range);
  if (w.empty()) return v == MotionVector{};
  const int x = column * kBlockSize + v.x;
  const int y = row * kBlockSize + v.y;
  return x >= w.left && x < w.right && y >= w.top && y < w.bottom;
}

bool flagged(std::span<const std::uint8_t> flags, std::size_t block) { return !flags.empty() && flags[block] != 0; }

std::string pair_text(int x, int y) {
  return std::string("(").append(std::to_string(x)).append(", ").append(std::to_string(y)).append(")");
}
std::string text_of(MotionVector v) { return pair_text(v.x, v.y); }

}  // namespace

std::string to_string(MotionFault fault) {
  constexpr std::array<const char*, kMotionFaults> kNames = {"right",        "not written",      "unsteady",      "leaves the plane",
                                                             "no candidate", "not the smallest", "not the first", "wrong SAD"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::string to_string(const MotionDifference& d, const std::string& whose) {
  constexpr const char* kNames[] = {"Y", "U", "V"};
  std::string text =
      std::string("frame ").append(std::to_string(d.frame)).append(", ").append(kNames[d.plane]).append(", block ");
  text.append(pair_text(d.column, d.row)).append(": ");
  const std::string exact = text_of(d.exact) + ", SAD " + std::to_string(d.exact_sad);
  const std::string found = whose + " vector " + text_of(d.vector);
  const bool tells_another = d.told_sad && d.fault >= MotionFault::leaves_window && *d.told_sad != d.sad;
  const std::string sad =
      ", SAD " + std::to_string(d.sad) + (tells_another ? " (reported: " + std::to_string(*d.told_sad) + ")" : "");
  switch (d.fault) {
    case MotionFault::none:
      return text + found + " is right";
    case MotionFault::unwritten:
      return text + "nothing was written; the right vector is " + exact;
    case MotionFault::unsteady:
      return text + found + " changes from run to run; the right vector is " + exact;
    case MotionFault::leaves_plane:
      return text + found + " leaves the plane; the right vector is " + exact;
    case MotionFault::leaves_window:
      return text + found + sad + ", is not a candidate; the right vector is " + exact;
    case MotionFault::not_smallest:
      return text + found + sad + "; the right vector is " + exact;
    case MotionFault::not_first:
      return text + found + sad + "; " + text_of(d.exact) +
             " has the same SAD and comes first";
    case MotionFault::wrong_sad:
      return text + found + " is right, but the reported SAD is " + std::to_string(d.told_sad.value_or(0)) +
             "; the true one is " + std::to_string(d.exact_sad);
  }
  return text;
}

MotionDifference MotionAudit::judge(const FoundMotion& found, int column, int row) const {
  const auto block = static_cast<std::size_t>(row * exact_.columns + column);
  MotionDifference d{.frame = found.frame,
                     .plane = found.plane,
                     .column = column,
                     .row = row,
                     .vector = found.vectors[block],
                     .exact = exact_.vectors[block],
                     .exact_sad = exact_.sads[block]};
  if (!found.sads.empty()) d.told_sad = found.sads[block];
  const bool legal = vector_is_legal(column, row, found.current.width, found.current.height, d.vector.x, d.vector.y);
  if (legal) d.sad = sad_at(found, column, row, d.vector);
  if (flagged(found.unwritten, block)) {
    d.fault = MotionFault::unwritten;
  } else if (flagged(found.unsteady, block)) {
    d.fault = MotionFault::unsteady;
  } else if (!legal) {
    d.fault = MotionFault::leaves_plane;
  } else if (!is_candidate(found, column, row, d.vector)) {
    d.fault = MotionFault::leaves_window;
  } else if (d.sad > d.exact_sad) {
    d.fault = MotionFault::not_smallest;
  } else if (d.vector != d.exact) {
    d.fault = MotionFault::not_first;
  } else if (d.told_sad && *d.told_sad != d.exact_sad) {
    d.fault = MotionFault::wrong_sad;
  }
  return d;
}

void MotionAudit::note_place(const FoundMotion& found, const MotionDifference& d) {
  places_.first_column += d.column == 0 ? 1 : 0;
  places_.last_column += d.column == exact_.columns - 1 ? 1 : 0;
  places_.first_row += d.row == 0 ? 1 : 0;
  places_.last_row += d.row == exact_.rows - 1 ? 1 : 0;
  places_.chroma += found.plane > 0 ? 1 : 0;
  if (d.fault == MotionFault::wrong_sad) {
    sads_8_bits_ += *d.told_sad == (d.exact_sad & 0xFFU) ? 1 : 0;
    sads_untold_ += *d.told_sad == 0 ? 1 : 0;
  }
}

void MotionAudit::try_mistakes(const FoundMotion& found) {
  // Mistakes are tried only on some blocks, so that an audit of wrong results stays fast: in a plane, on n blocks with
  // wrong vectors and about n blocks with right results. n is kCandidatesPerPlane, divided by the number of candidates
  // of a block, and limited to 2..kMostTriedPerPlane. After kMostTried blocks in all planes, no more are tried.
  constexpr std::int64_t kCandidatesPerPlane = 24576;
  constexpr std::int64_t kMostTriedPerPlane = 24;
  constexpr std::int64_t kMostTried = 160;
  tried_.resize(motion_mistakes().size());
  const std::int64_t candidates = std::max(1, 4 * found.range * found.range);
  const std::int64_t most = std::min(
      {std::clamp(kCandidatesPerPlane / candidates, std::int64_t{2}, kMostTriedPerPlane), kMostTried - blocks_tried_});
  std::vector<const MotionDifference*> wrong;
  for (const MotionDifference& d : differences_) {
    if (d.fault != MotionFault::wrong_sad && d.fault != MotionFault::unwritten && d.fault != MotionFault::unsteady)
      wrong.push_back(&d);
  }
  if (wrong.empty() || most <= 0) return;
  SearchedBlock searched{found.current, found.reference, found.range, 0, 0, found.previous, exact_.vectors};
  const auto try_all = [&](int column, int row, bool is_wrong) {
    searched.column = column;
    searched.row = row;
    const MotionVector v = found.vectors[static_cast<std::size_t>(row * exact_.columns + column)];
    for (std::size_t i = 0; i < tried_.size(); ++i) {
      Tried& t = tried_[i];
      if (t.refuted()) continue;
      const std::optional<MotionVector> guess = motion_mistakes()[i].find(searched);
      // If the mistake cannot be tried_ on this block, assume that a search with this mistake finds the right vector.
      const bool same = guess ? *guess == v : !is_wrong;
      ++(is_wrong ? t.wrong : t.right);
      (is_wrong ? t.explained : t.kept) += same ? 1 : 0;
    }
    ++blocks_tried_;
  };
  // Try mistakes on blocks with wrong vectors. If there are many, try every step-th of them, so that they are spread
  // over the plane.
  const auto step = std::max<std::size_t>(1, wrong.size() / static_cast<std::size_t>(most));
  for (std::size_t i = 0, done = 0; i < wrong.size() && done < static_cast<std::size_t>(most); i += step, ++done) {
    try_all(wrong[i]->column, wrong[i]->row, true);
  }
  // Try them on blocks with right results, too: there, a search with the mistake must also find the right vector.
  std::vector<std::uint8_t> is_wrong(exact_.vectors.size());
  for (const MotionDifference& d : differences_)
    is_wrong[static_cast<std::size_t>(d.row * exact_.columns + d.column)] = 1;
  const auto right = static_cast<std::size_t>(std::count(is_wrong.begin(), is_wrong.end(), 0));
  const std::size_t stride = std::max<std::size_t>(1, right / static_cast<std::size_t>(most));
  std::size_t seen = 0;
  for (std::size_t block = 0; block < is_wrong.size(); ++block) {
    if (is_wrong[block] != 0 || flagged(found.unwritten, block) ||
        (!found.audited.empty() && found.audited[block] == 0))
      continue;
    if (seen++ % stride != 0) continue;
    try_all(static_cast<int>(block) % exact_.columns, static_cast<int>(block) / exact_.columns, false);
  }
}

void MotionAudit::add(const FoundMotion& found) {
  differences_.clear();
  exact_ = exact_motion(found);
  for (int row = 0; row < exact_.rows; ++row) {
    for (int column = 0; column < exact_.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * exact_.columns + column);
      if (!found.audited.empty() && found.audited[block] == 0) continue;
      const MotionDifference d = judge(found, column, row);
      for (AuditCounts* totals : {&totals_, &plane_totals_[static_cast<std::size_t>(found.plane)]}) {
        ++totals->blocks;
        ++totals->faults[static_cast<std::size_t>(d.fault)];
        if (d.fault != MotionFault::none && d.fault < MotionFault::not_smallest) continue;
        totals->sad += d.sad;
        totals->exact_sad += d.exact_sad;
      }
      if (d.fault == MotionFault::none) continue;
      if (!first_) first_ = d;
      note_place(found, d);
      differences_.push_back(d);
    }
  }
  if (!differences_.empty()) try_mistakes(found);
}

std::vector<MotionSuspicion> MotionAudit::suspicions() const {
  std::vector<MotionSuspicion> found;
  const std::int64_t all = totals_.differing();
  if (all == 0) return found;
  const auto share = [all](std::int64_t some) { return static_cast<double>(some) / static_cast<double>(all); };
  if (const std::int64_t n = totals_.count(MotionFault::unwritten); n > 0) {
    found.push_back({"not-written",
                     "some blocks have no result: a grid or loop that is too small, an early return, or results stored "
                     "in the wrong place",
                     share(n)});
  }
  if (const std::int64_t n = totals_.count(MotionFault::unsteady); n > 0) {
    found.push_back({"unsteady",
                     "results change from run to run: a race, a missing barrier, or memory that nobody has set",
                     share(n)});
  }
  if (const std::int64_t n = totals_.count(MotionFault::wrong_sad); n > 0 && n == all) {
    if (sads_untold_ == n) {
      found.push_back({"sad-zero", "the vectors are right, but the SADs are all 0: they are not stored", 1});
    } else if (sads_8_bits_ == n) {
      found.push_back({"sad-8-bits", "the vectors are right, but SADs are stored in 8 bits: they go up to 16320", 1});
    } else {
      found.push_back({"sad-only", "the vectors are right, but the reported SADs do not belong to them", 1});
    }
  }
  // Report the mistakes that give the found vectors of the most blocks, right or wrong. If several give equally many,
  // up to kMost are reported: those that come first in the list of mistakes.
  std::vector<std::pair<std::int64_t, std::size_t>> fitting;
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    if (tried_[i].fits()) fitting.emplace_back(-(tried_[i].explained + tried_[i].kept), i);
  }
  std::ranges::sort(fitting);
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, fitting.size()); ++i) {
    if (fitting[i].first != fitting.front().first) break;
    const MotionMistake& mistake = motion_mistakes()[fitting[i].second];
    const Tried& t = tried_[fitting[i].second];
    found.push_back({mistake.id, mistake.text, static_cast<double>(t.explained) / static_cast<double>(t.wrong)});
  }
  // Report what the blocks with wrong results have in common.
  const Places& p = places_;
  const auto all_in = [&](std::int64_t some, const char* id, const std::string& text) {
    if (some == all) found.push_back({id, text, 1});
  };
  all_in(p.first_column, "first-column-only", "only blocks of the first column differ: look at the left edge");
  all_in(p.last_column, "last-column-only", "only blocks of the last column differ: look at the right edge");
  all_in(p.first_row, "first-row-only", "only blocks of the first row differ: look at the top edge");
  all_in(p.last_row, "last-row-only", "only blocks of the last row differ: look at the bottom edge");
  all_in(p.chroma, "chroma-only",
         "only chroma planes differ: they have half the sides and half the range");
  if (totals_.count(MotionFault::not_first) == all && fitting.empty()) {
    found.push_back({"equals-unordered",
                     "all SADs are the smallest, but not always the first such candidate in raster order is kept: "
                     "order candidates of equal SAD by their number",
                     1});
  }
  if (found.empty() && totals_.count(MotionFault::leaves_plane) > 0) {
    found.push_back({"leaves-plane",
                     "some vectors leave the plane: the window is not cut at its edges, or the vector overflows",
                     share(totals_.count(MotionFault::leaves_plane))});
  }
  return found;
}

}  // namespace c63
