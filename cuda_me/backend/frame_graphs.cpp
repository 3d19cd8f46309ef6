#include "cuda_me/backend/frame_graphs.h"

#include <optional>

namespace c63::cuda {
namespace {

FrameRole recorded_role(int slot, bool key) { return {.key = key, .reconstruction = slot % 2}; }

}  // namespace

FrameGraphs::FrameGraphs(const CodingContext& context, const Chain& chain, MotionSearch& search, const Stream& coding,
                         const Stream& download)
    : inter_(static_cast<std::size_t>(search.choices())) {
  const auto make = [](const Stream& stream, auto&& work) {
    GraphExec graph = GraphExec::capture(stream, work);
    graph.upload(stream);
    return graph;
  };
  for (int slot = 0; slot < kChainDepth; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    const int turn = slot % kBatchesInFlight;  // each batch has one frame of the chain, in slot order
    const std::array key{job_of(context, chain, slot, turn, recorded_role(slot, true))};
    const std::array inter{job_of(context, chain, slot, turn, recorded_role(slot, false))};
    std::vector<MotionJob> searches;
    add_searches(context, inter[0], searches);
    key_[at] = make(coding, [&] { enqueue_coding(context.layout, key, coding); });
    for (int choice = 0; choice < search.choices(); ++choice) {
      inter_[static_cast<std::size_t>(choice)][at] = make(coding, [&] {
        search.enqueue_choice(choice, searches, coding);
        enqueue_coding(context.layout, inter, coding);
      });
    }
    if (slot >= kBatchesInFlight) continue;
    scan_[at] = make(download, [&] {
      enqueue_scan_writing(context.layout, inter, download);
      enqueue_scan_download(inter, download);
    });
  }
}

const GraphExec* FrameGraphs::coding(int slot, const FrameRole& role, MotionSearch& search) const {
  if (inter_.empty() || role != recorded_role(slot, role.key)) return nullptr;
  const auto at = static_cast<std::size_t>(slot);
  if (role.key) return &key_[at];
  const std::optional<int> choice = search.next_choice();
  return choice ? &inter_[static_cast<std::size_t>(*choice)][at] : nullptr;
}

const GraphExec* FrameGraphs::scan(int turn) const {
  const GraphExec& graph = scan_[static_cast<std::size_t>(turn)];
  return graph.empty() ? nullptr : &graph;
}

}  // namespace c63::cuda
