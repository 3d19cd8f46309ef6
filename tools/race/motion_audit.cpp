#include "race/motion_audit.h"

#include <algorithm>
#include <utility>

#include "race/motion_mistakes.h"
#include "c63/error.h"
#include "c63/motion.h"
#include "codec/search_window.h"

namespace c63 {
namespace {

void require(bool condition, const char* id, const std::string& message) {
  if (!condition) throw Error(ErrorKind::usage, id, message);
}

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

/// The results of one mistake that was tried on blocks. A differing block is one whose result is wrong; the mistake
/// explains it if it gives the same wrong vector.
struct Tried {
  std::int64_t wrong = 0;      ///< differing blocks on which it was tried
  std::int64_t explained = 0;  ///< differing blocks for which it gives the found vector
  std::int64_t right = 0;      ///< right blocks on which it was tried
  std::int64_t kept = 0;       ///< right blocks for which it gives the found vector

  [[nodiscard]] double share() const {
    return wrong > 0 ? static_cast<double>(explained) / static_cast<double>(wrong) : 0;
  }
  [[nodiscard]] bool refuted() const {
    return (wrong >= 16 && explained * 2 < wrong) || (right >= 16 && kept * 4 < right * 3);
  }
  [[nodiscard]] bool fits() const { return explained > 0 && explained * 10 >= wrong * 9 && kept * 10 >= right * 9; }
};

/// The numbers of blocks with wrong results in the first and last columns and rows, and in each plane.
struct Places {
  std::int64_t first_column = 0;
  std::int64_t last_column = 0;
  std::int64_t first_row = 0;
  std::int64_t last_row = 0;
  std::array<std::int64_t, 3> planes{};
};

}  // namespace

std::string to_string(MotionFault fault) {
  switch (fault) {
    case MotionFault::none:
      return "right";
    case MotionFault::unwritten:
      return "not written";
    case MotionFault::unsteady:
      return "unsteady";
    case MotionFault::leaves_plane:
      return "leaves the plane";
    case MotionFault::leaves_window:
      return "no candidate";
    case MotionFault::not_smallest:
      return "not the smallest";
    case MotionFault::not_first:
      return "not the first";
    case MotionFault::wrong_sad:
      return "wrong SAD";
  }
  return "right";
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

struct MotionAudit::State {
  /// Mistakes are tried only on some blocks, so that an audit of wrong results stays fast: in a plane, on n blocks with
  /// wrong vectors and about n blocks with right results. n is kCandidatesPerPlane, divided by the number of candidates
  /// of a block, and limited to 2..kMostTriedPerPlane. After kMostTried blocks in all planes, no more are tried.
  static constexpr std::int64_t kCandidatesPerPlane = 24576;
  static constexpr std::int64_t kMostTriedPerPlane = 24;
  static constexpr std::int64_t kMostTried = 160;

  AuditCounts totals;
  std::array<AuditCounts, 3> plane_totals;
  std::optional<MotionDifference> first;
  std::vector<MotionDifference> differences;
  MotionField exact;
  std::vector<Tried> tried = std::vector<Tried>(motion_mistakes().size());
  std::int64_t blocks_tried = 0;
  Places places;
  std::int64_t sads_8_bits = 0;
  std::int64_t sads_untold = 0;  ///< blocks whose vector is right and whose SAD is reported as 0, although it is not 0

  MotionDifference judge(const FoundMotion& found, int column, int row) const;
  void note_place(const FoundMotion& found, const MotionDifference& d);
  void try_mistakes(const FoundMotion& found);
};

MotionDifference MotionAudit::State::judge(const FoundMotion& found, int column, int row) const {
  const auto block = static_cast<std::size_t>(row * exact.columns + column);
  MotionDifference d{.frame = found.frame,
                     .plane = found.plane,
                     .column = column,
                     .row = row,
                     .vector = found.vectors[block],
                     .exact = exact.vectors[block],
                     .exact_sad = exact.sads[block]};
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

void MotionAudit::State::note_place(const FoundMotion& found, const MotionDifference& d) {
  places.first_column += d.column == 0 ? 1 : 0;
  places.last_column += d.column == exact.columns - 1 ? 1 : 0;
  places.first_row += d.row == 0 ? 1 : 0;
  places.last_row += d.row == exact.rows - 1 ? 1 : 0;
  ++places.planes[static_cast<std::size_t>(found.plane)];
  if (d.fault == MotionFault::wrong_sad) {
    sads_8_bits += *d.told_sad == (d.exact_sad & 0xFFU) ? 1 : 0;
    sads_untold += *d.told_sad == 0 ? 1 : 0;
  }
}

void MotionAudit::State::try_mistakes(const FoundMotion& found) {
  const std::int64_t candidates = std::max(1, 4 * found.range * found.range);
  const std::int64_t most = std::min(
      {std::clamp(kCandidatesPerPlane / candidates, std::int64_t{2}, kMostTriedPerPlane), kMostTried - blocks_tried});
  std::vector<const MotionDifference*> wrong;
  for (const MotionDifference& d : differences) {
    if (d.fault != MotionFault::wrong_sad && d.fault != MotionFault::unwritten && d.fault != MotionFault::unsteady)
      wrong.push_back(&d);
  }
  if (wrong.empty() || most <= 0) return;
  SearchedBlock searched{found.current, found.reference, found.range, 0, 0, found.previous, exact.vectors};
  const auto try_all = [&](int column, int row, bool is_wrong) {
    searched.column = column;
    searched.row = row;
    const MotionVector v = found.vectors[static_cast<std::size_t>(row * exact.columns + column)];
    for (std::size_t i = 0; i < tried.size(); ++i) {
      Tried& t = tried[i];
      if (t.refuted()) continue;
      const std::optional<MotionVector> guess = motion_mistakes()[i].find(searched);
      // If the mistake cannot be tried on this block, assume that a search with this mistake finds the right vector.
      const bool same = guess ? *guess == v : !is_wrong;
      ++(is_wrong ? t.wrong : t.right);
      (is_wrong ? t.explained : t.kept) += same ? 1 : 0;
    }
    ++blocks_tried;
  };
  // Try mistakes on blocks with wrong vectors. If there are many, try every step-th of them, so that they are spread
  // over the plane.
  const auto step = std::max<std::size_t>(1, wrong.size() / static_cast<std::size_t>(most));
  for (std::size_t i = 0, done = 0; i < wrong.size() && done < static_cast<std::size_t>(most); i += step, ++done) {
    try_all(wrong[i]->column, wrong[i]->row, true);
  }
  // Try them on blocks with right results, too: there, a search with the mistake must also find the right vector.
  std::vector<std::uint8_t> is_wrong(exact.vectors.size());
  for (const MotionDifference& d : differences)
    is_wrong[static_cast<std::size_t>(d.row * exact.columns + d.column)] = 1;
  const auto right = static_cast<std::size_t>(std::count(is_wrong.begin(), is_wrong.end(), 0));
  const std::size_t stride = std::max<std::size_t>(1, right / static_cast<std::size_t>(most));
  std::size_t seen = 0;
  for (std::size_t block = 0; block < is_wrong.size(); ++block) {
    if (is_wrong[block] != 0 || flagged(found.unwritten, block) ||
        (!found.audited.empty() && found.audited[block] == 0))
      continue;
    if (seen++ % stride != 0) continue;
    try_all(static_cast<int>(block) % exact.columns, static_cast<int>(block) / exact.columns, false);
  }
}

MotionAudit::MotionAudit() : state_(std::make_unique<State>()) {}
MotionAudit::~MotionAudit() = default;
MotionAudit::MotionAudit(MotionAudit&&) noexcept = default;
MotionAudit& MotionAudit::operator=(MotionAudit&&) noexcept = default;

std::int64_t MotionAudit::add(const FoundMotion& found) {
  require(found.range >= 0 && found.range <= 127, "C63-MERANGE-RANGE",
          "search range " + std::to_string(found.range) + " is outside 0..127");
  require(found.plane >= 0 && found.plane < 3, "C63-PLANE-NUMBER", "planes are 0 (Y), 1 (U) and 2 (V)");
  require(found.current.width == found.reference.width && found.current.height == found.reference.height &&
              found.current.width > 0 && found.current.height > 0 && found.current.width % kBlockSize == 0 &&
              found.current.height % kBlockSize == 0,
          "C63-PLANE-SIZE", "an audit needs two planes of the same size, with sides that are multiples of 8");
  const auto blocks = static_cast<std::size_t>(found.current.width / kBlockSize) *
                      static_cast<std::size_t>(found.current.height / kBlockSize);
  const auto fits = [&](std::size_t size) { return size == 0 || size == blocks; };
  require(found.vectors.size() == blocks && fits(found.sads.size()) && fits(found.audited.size()) &&
              fits(found.unwritten.size()) && fits(found.unsteady.size()) && fits(found.previous.size()),
          "C63-AUDIT-BLOCKS", "an audit of this plane needs values of " + std::to_string(blocks) + " blocks");

  State& s = *state_;
  s.differences.clear();
  s.exact = exact_motion(found);
  for (int row = 0; row < s.exact.rows; ++row) {
    for (int column = 0; column < s.exact.columns; ++column) {
      const auto block = static_cast<std::size_t>(row * s.exact.columns + column);
      if (!found.audited.empty() && found.audited[block] == 0) continue;
      const MotionDifference d = s.judge(found, column, row);
      for (AuditCounts* totals : {&s.totals, &s.plane_totals[static_cast<std::size_t>(found.plane)]}) {
        ++totals->blocks;
        ++totals->faults[static_cast<std::size_t>(d.fault)];
        if (d.fault != MotionFault::none && d.fault < MotionFault::not_smallest) continue;
        totals->sad += d.sad;
        totals->exact_sad += d.exact_sad;
      }
      if (d.fault == MotionFault::none) continue;
      if (!s.first) s.first = d;
      s.note_place(found, d);
      s.differences.push_back(d);
    }
  }
  if (!s.differences.empty()) s.try_mistakes(found);
  return static_cast<std::int64_t>(s.differences.size());
}

const AuditCounts& MotionAudit::totals() const { return state_->totals; }
const AuditCounts& MotionAudit::totals(int plane) const {
  return state_->plane_totals[static_cast<std::size_t>(plane)];
}
const std::optional<MotionDifference>& MotionAudit::first() const { return state_->first; }
std::span<const MotionDifference> MotionAudit::differences() const { return state_->differences; }
std::span<const MotionVector> MotionAudit::exact_vectors() const { return state_->exact.vectors; }
std::span<const std::uint16_t> MotionAudit::exact_sads() const { return state_->exact.sads; }

std::vector<MotionSuspicion> MotionAudit::suspicions() const {
  const State& s = *state_;
  std::vector<MotionSuspicion> found;
  const std::int64_t all = s.totals.differing();
  if (all == 0) return found;
  const auto share = [all](std::int64_t some) { return static_cast<double>(some) / static_cast<double>(all); };
  if (const std::int64_t n = s.totals.count(MotionFault::unwritten); n > 0) {
    found.push_back({"not-written",
                     "some blocks have no result: a grid or loop that is too small, an early return, or results stored "
                     "in the wrong place",
                     share(n)});
  }
  if (const std::int64_t n = s.totals.count(MotionFault::unsteady); n > 0) {
    found.push_back({"unsteady",
                     "results change from run to run: a race, a missing barrier, or memory that nobody has set",
                     share(n)});
  }
  if (const std::int64_t n = s.totals.count(MotionFault::wrong_sad); n > 0 && n == all) {
    if (s.sads_untold == n) {
      found.push_back({"sad-zero", "the vectors are right, but the SADs are all 0: they are not stored", 1});
    } else if (s.sads_8_bits == n) {
      found.push_back({"sad-8-bits", "the vectors are right, but SADs are stored in 8 bits: they go up to 16320", 1});
    } else {
      found.push_back({"sad-only", "the vectors are right, but the reported SADs do not belong to them", 1});
    }
  }
  // Report the mistakes that give the found vectors of the most blocks, right or wrong. If several give equally many,
  // up to kMost are reported: those that come first in the list of mistakes.
  std::vector<std::pair<std::int64_t, std::size_t>> fitting;
  for (std::size_t i = 0; i < s.tried.size(); ++i) {
    if (s.tried[i].fits()) fitting.emplace_back(-(s.tried[i].explained + s.tried[i].kept), i);
  }
  std::ranges::sort(fitting);
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, fitting.size()); ++i) {
    if (fitting[i].first != fitting.front().first) break;
    const MotionMistake& mistake = motion_mistakes()[fitting[i].second];
    found.push_back({mistake.id, mistake.text, s.tried[fitting[i].second].share()});
  }
  // Report what the blocks with wrong results have in common.
  const Places& p = s.places;
  const auto all_in = [&](std::int64_t some, const char* id, const std::string& text) {
    if (some == all) found.push_back({id, text, 1});
  };
  all_in(p.first_column, "first-column-only", "only blocks of the first column differ: look at the left edge");
  all_in(p.last_column, "last-column-only", "only blocks of the last column differ: look at the right edge");
  all_in(p.first_row, "first-row-only", "only blocks of the first row differ: look at the top edge");
  all_in(p.last_row, "last-row-only", "only blocks of the last row differ: look at the bottom edge");
  all_in(p.planes[1] + p.planes[2], "chroma-only",
         "only chroma planes differ: they have half the sides and half the range");
  if (s.totals.count(MotionFault::not_first) == all && fitting.empty()) {
    found.push_back({"equals-unordered",
                     "all SADs are the smallest, but not always the first such candidate in raster order is kept: "
                     "order candidates of equal SAD by their number",
                     1});
  }
  if (found.empty() && s.totals.count(MotionFault::leaves_plane) > 0) {
    found.push_back({"leaves-plane",
                     "some vectors leave the plane: the window is not cut at its edges, or the vector overflows",
                     share(s.totals.count(MotionFault::leaves_plane))});
  }
  return found;
}

}  // namespace c63
