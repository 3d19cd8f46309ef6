#include "cuda_me/backend/frame_graphs.h"

#include <optional>

namespace c63::cuda {
namespace {

FrameRole recorded_role(std::size_t slot, bool key) {
  return {.key = key, .reconstruction = static_cast<int>(slot % 2)};
}

}  // namespace

FrameGraphs::FrameGraphs(const CodingContext& context, const Chain& chain, MotionSearch& search, const Stream& coding,
                         const Stream& download)
    : inter_(static_cast<std::size_t>(search.choices())) {
  const auto make = [](const Stream& stream, auto&& work) {
    GraphExec graph = GraphExec::capture(stream, work);
    graph.upload(stream);
    return graph;
  };
  for (std::size_t slot = 0; slot < kChainDepth; ++slot) {
    const std::size_t outputs = slot % kBatchesInFlight;  // each batch has one frame of the chain, in slot order
    const std::array key{job_of(context, chain, slot, outputs, recorded_role(slot, true))};
    const std::array inter{job_of(context, chain, slot, outputs, recorded_role(slot, false))};
    std::vector<MotionJob> searches;
    add_searches(context, inter[0], searches);
    key_[slot] = make(coding, [&] { enqueue_coding(context.layout, key, coding); });
    for (int choice = 0; choice < search.choices(); ++choice) {
      inter_[static_cast<std::size_t>(choice)][slot] = make(coding, [&] {
        search.enqueue_choice(choice, searches, coding);
        enqueue_coding(context.layout, inter, coding);
      });
    }
    if (slot >= kBatchesInFlight) continue;
    scan_[slot] = make(download, [&] {
      enqueue_scan_writing(context.layout, inter, download);
      enqueue_scan_download(inter, download);
    });
  }
}

const GraphExec* FrameGraphs::coding(std::size_t slot, const FrameRole& role, MotionSearch& search) const {
  if (inter_.empty() || role != recorded_role(slot, role.key)) return nullptr;
  if (role.key) return &key_[slot];
  const std::optional<int> choice = search.next_choice();
  return choice ? &inter_[static_cast<std::size_t>(*choice)][slot] : nullptr;
}

const GraphExec* FrameGraphs::scan(std::size_t outputs) const {
  return scan_[outputs].empty() ? nullptr : &scan_[outputs];
}

}  // namespace c63::cuda
