// A search that a user wrote, as a search method. It searches a whole plane at once, and its vectors are checked.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c63/error.h"
#include "c63/motion_kernel.h"
#include "c63/user_search.h"
#include "codec/search_window.h"
#include "cpu/search_method.h"
#include "decide/vectors.h"

namespace c63::cpu {
namespace {

static_assert(sizeof(c63_motion_vector) == sizeof(MotionVector));

class UserSearcher final : public BlockSearcher {
 public:
  UserSearcher(const UserSearch& user, UserSearch::Function search, const Kernels& kernels, const PlaneGeometry& geometry,
              int range, int plane)
      : BlockSearcher(kernels, geometry, range),
        name_(user.name),
        search_(std::move(search)),
        plane_(plane),
        vectors_(static_cast<std::size_t>(geometry.blocks())),
        sads_(vectors_.size()) {}

  void prepare() override {
    if (range_ == 0) return;  // no candidate: all vectors are zero
    std::ranges::fill(vectors_, kNotWritten);
    search_({.current = current_.data,
             .reference = reference_.data,
             .current_pitch = current_.pitch,
             .reference_pitch = reference_.pitch,
             .width = geometry_.width,
             .height = geometry_.height,
             .range = range_,
             .vectors = reinterpret_cast<c63_motion_vector*>(vectors_.data()),
             .sads = sads_.data()});
    for (int block = 0; block < geometry_.blocks(); ++block) check(block);
  }

 protected:
  void visit(SearchCandidates& candidates) const override {
    const Position own = candidates.own();
    const MotionVector vector = vectors_[static_cast<std::size_t>(own.y / kBlockSize * geometry_.columns + own.x / kBlockSize)];
    candidates.add(own.x + vector.x, own.y + vector.y);
  }

 private:
  void check(int block) const {
    const int column = block % geometry_.columns;
    const int row = block / geometry_.columns;
    const MotionVector vector = vectors_[static_cast<std::size_t>(block)];
    if (user_vector_is_right(column, row, geometry_.width, geometry_.height, range_, vector)) return;
    throw user_vector_error(name_, plane_, column, row, geometry_.width, geometry_.height, range_, vector);
  }

  std::string name_;
  UserSearch::Function search_;
  int plane_;
  std::vector<MotionVector> vectors_;
  std::vector<std::uint16_t> sads_;  ///< as the search tells them; the encoder computes its own
};

}  // namespace

std::array<std::unique_ptr<BlockSearcher>, kPlanes> make_plane_searchers(const CodingSettings& settings,
                                                                         const Kernels& kernels, const Geometry& geometry) {
  const UserSearch* const user = settings.user_search.get();
  if (user != nullptr && !user->open) {
    throw Error(ErrorKind::usage, "C63-SEARCH-DEVICE", "is a search for the GPU, but the CPU encodes: choose a GPU, or give a search for the CPU",
                {.file = user->name});
  }
  const UserSearch::Function function = user != nullptr ? user->open() : UserSearch::Function();
  std::array<std::unique_ptr<BlockSearcher>, kPlanes> searchers;
  for (int p = 0; p < kPlanes; ++p) {
    const int range = plane_search_range(settings.search_range, p);
    searchers[static_cast<std::size_t>(p)] =
        user != nullptr ? std::make_unique<UserSearcher>(*user, function, kernels, geometry.plane(p), range, p)
                       : make_block_searcher(settings.method, kernels, geometry.plane(p), range);
  }
  return searchers;
}

}  // namespace c63::cpu
