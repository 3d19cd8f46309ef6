#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "cpu/kernels.h"
#include "decide/rate_decisions.h"

namespace c63::cpu {

/// The candidates that a search method tries for one block. It keeps those of least cost, and of equal ones the first
/// in raster order. The cost is the SAD, plus the cost of the vector if vectors have a cost.
class SearchCandidates {
 public:
  struct Candidate {
    std::uint32_t cost = 0;
    std::uint32_t sad = 0;
    Position place;  ///< position of the candidate in the reference plane
  };

  /// Keeps the candidate of least SAD. `own` is the block's position in its plane.
  SearchCandidates(const Kernels& kernels, const BlockSearch& block, Position own, std::span<const Position> starts)
      : kernels_(kernels), block_(block), own_(own), starts_(starts), most_(1) {}
  /// Keeps the best `count` candidates by SAD plus the cost of vectors.
  SearchCandidates(const Kernels& kernels, const CostedSearch& block, std::size_t count)
      : kernels_(kernels), block_(block), own_(block.own), starts_(block.starts), costs_(block.costs),
        cost_pitch_(block.cost_pitch), most_(count) {}

  /// The block's position in its plane, which is also the position of the zero vector's candidate.
  [[nodiscard]] Position own() const { return own_; }
  /// The candidates that may be tried.
  [[nodiscard]] const SearchWindow& window() const { return block_.window; }
  /// Candidates of the window that are often good, such as those at the vectors of neighbours.
  [[nodiscard]] std::span<const Position> starts() const { return starts_; }

  /// Tries a candidate of the window, or the zero vector, and returns its cost. Trying it again has no effect.
  std::uint32_t add(int x, int y) {
    Candidate tried{.place = {x, y}};
    tried.sad = kernels_.sad(block_.current, block_.current_pitch, &block_.reference.at(x, y), block_.reference.pitch);
    tried.cost = tried.sad;
    if (costs_ != nullptr) tried.cost += costs_[(y - block_.window.top) * cost_pitch_ + x - block_.window.left];
    keep(tried);
    return tried.cost;
  }

  /// The best candidates, best first.
  [[nodiscard]] std::span<const Candidate> best() const { return std::span(best_).first(count_); }

 private:
  void keep(const Candidate& tried) {
    const auto order = [](const Candidate& c) { return std::tuple(c.cost, c.place.y, c.place.x); };
    std::size_t place = count_;
    while (place > 0 && order(tried) < order(best_[place - 1])) --place;
    if (place == most_ || (place > 0 && order(best_[place - 1]) == order(tried))) return;
    if (count_ < most_) ++count_;
    for (std::size_t i = count_ - 1; i > place; --i) best_[i] = best_[i - 1];
    best_[place] = tried;
  }

  const Kernels& kernels_;
  const BlockSearch& block_;
  Position own_;
  std::span<const Position> starts_;
  const std::uint16_t* costs_ = nullptr;  ///< null: vectors cost nothing
  std::ptrdiff_t cost_pitch_ = 0;
  std::size_t most_;
  std::size_t count_ = 0;
  std::array<Candidate, kMaxFoundVectors> best_{};
};

}  // namespace c63::cpu
