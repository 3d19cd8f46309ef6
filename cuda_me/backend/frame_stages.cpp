#include "cuda_me/backend/frame_stages.h"

#include <algorithm>
#include <utility>

#include "cuda_me/runtime/memory.h"
#include "cuda_me/runtime/launch.h"

namespace c63::cuda {

namespace {

RateItem rate_item(const BatchEntry& entry, const CodingJob& job) {
  const FrameRole& role = entry.frame().role;
  return {.frame = {.job = job,
                    .quantizers = entry.input().decision_quantizers,
                    .decided = entry.chain->device.decided,
                    .original = role.has_original ? entry.input().original : nullptr,
                    .planned_weights = role.is_weighted ? entry.input().weights : nullptr},
          .plan = &entry.frame().frame.plan,
          .side = entry.number % RateStages::kSides};
}

}  // namespace

FrameStages::FrameStages(const CodingContext& context, std::string_view kernel, std::span<Chain> chains, bool graphs)
    : context_(context), chains_(chains.size()), search_(make_motion_search(kernel)), rate_(context, chains.size()) {
  searches_.reserve(chains.size() * kPlanes);
  jobs_.reserve(chains.size());
  rate_items_.reserve(chains.size());
  // Memory is allocated now, so that opening a backend fails at once if there is too little.
  if (context.rate.any()) rate_.reserve(context.rate, {coding_, second_});
  if (context.settings.coding.user_search != nullptr) user_search_ = std::make_unique<UserFrameSearch>(context);
  if (graphs && chains.size() == 1 && !context.keep.any() && user_search_ == nullptr) {
    graphs_ = FrameGraphs(context, chains.front(), *search_, coding_, download_);
  }
}

FrameStages::~FrameStages() {
  // Waits, because the device may still use the memory that is freed now.
  drop_error(cudaStreamSynchronize(coding_));
  drop_error(cudaStreamSynchronize(second_));
  drop_error(cudaStreamSynchronize(download_));
}

bool FrameStages::may_part(const Batch& batch) const {
  return chains_ > 1 && !context_.keep.any() &&
         std::ranges::all_of(batch.entries, [](const BatchEntry& entry) { return entry.frame().role.by_rate; });
}

void FrameStages::part_or_join(bool apart, const Event& uploaded) {
  coding_.wait(uploaded);
  if (apart && !apart_) {
    forked_.record(coding_);
    second_.wait(forked_);
  }
  if (apart) second_.wait(uploaded);
  if (!apart && apart_) coding_.wait(coded_second_);
  apart_ = apart;
}

void FrameStages::end_coding(Batch& batch, bool apart) {
  if (!apart) {
    batch.coded.record(coding_);
    download_.wait(batch.coded);
    return;
  }
  coded_first_.record(coding_);
  coded_second_.record(second_);
  download_.wait(coded_first_);
  download_.wait(coded_second_);
  batch.coded.record(download_);
}

void FrameStages::enqueue(Batch& batch, const Event& uploaded) {
  const Range range("batch");
  // Sorts the frames: those with plain quantization first, then those that are decided by rate.
  std::ranges::sort(batch.entries, {},
                    [](const BatchEntry& entry) { return std::pair(entry.frame().role.by_rate, entry.number); });
  jobs_.clear();
  for (const BatchEntry& entry : batch.entries) {
    jobs_.push_back(job_of(context_, *entry.chain, entry.slot, batch.outputs, entry.frame().role));
  }
  const bool apart = may_part(batch);
  part_or_join(apart, uploaded);
  batch.start.record(coding_);
  const BatchEntry& first = batch.entries.front();
  if (const GraphExec* const graph = graphs_.coding(first.slot, first.frame().role, *search_)) {
    graph->launch(coding_);
  } else {
    enqueue_coding_of(batch, apart);
  }
  // The scan is written and downloaded on its own stream, while the next batch is coded. All other outputs are
  // downloaded on the coding stream, before the next batch overwrites them.
  end_coding(batch, apart);
  if (const GraphExec* const graph = graphs_.scan(batch.outputs)) {
    graph->launch(download_);
  } else {
    enqueue_scan_writing(context_.layout, jobs_, download_);
    enqueue_scan_download(jobs_, download_);
  }
  if (context_.keep.any()) {
    enqueue_downloads(batch);
    batch.kept.record(coding_);
    download_.wait(batch.kept);
  }
  batch.done.record(download_);
}

void FrameStages::enqueue_coding_of(const Batch& batch, bool apart) {
  rate_items_.clear();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const CodingJob& job = jobs_[i];
    const BatchEntry& entry = batch.entries[i];
    if (entry.frame().role.by_rate) rate_items_.push_back(rate_item(entry, job));
    if (job.reference == nullptr) continue;
    if (context_.keep.host_reference && job.inherited == nullptr) {  // the host has a copy of the newest picture only
      copy_async(const_cast<std::uint8_t*>(job.reference), entry.chain->host.reference, context_.layout.picture_bytes,
                 coding_);
    }
  }
  const std::size_t plain_frames = jobs_.size() - rate_items_.size();
  if (plain_frames > 0) enqueue_plain(std::span<const CodingJob>(jobs_).first(plain_frames));
  rate_.enqueue(rate_items_, batch.outputs, {coding_, apart ? second_ : coding_}, user_search_.get());
}

void FrameStages::enqueue_plain(std::span<const CodingJob> jobs) {
  const Range range("plain");
  searches_.clear();
  for (const CodingJob& job : jobs) {
    if (job.reference != nullptr) add_searches(context_, job, searches_);
  }
  if (!searches_.empty()) {
    user_search_ != nullptr ? user_search_->enqueue(jobs, coding_) : search_->enqueue(searches_, coding_);
  }
  enqueue_coding(context_.layout, jobs, coding_);
}

void FrameStages::download_picture(const std::uint8_t* picture, std::uint8_t* linear) {
  const FrameLayout& layout = context_.layout;
  for (int p = 0; p < kPlanes; ++p) {
    copy_async(linear, picture + layout.offset[p], layout.coded[p], coding_);
    linear += layout.coded[p];
  }
}

void FrameStages::enqueue_downloads(const Batch& batch) {
  const FrameLayout& layout = context_.layout;
  const auto blocks = static_cast<std::size_t>(layout.blocks);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const CodingJob& job = jobs_[i];
    const BatchEntry& entry = batch.entries[i];
    const FrameSlot& slot = entry.frame();
    const HostChain& host = entry.chain->host;
    const HostChain::Output& output = host.outputs[batch.outputs];
    if (output.reconstruction != nullptr) download_picture(job.reconstruction, output.reconstruction);
    if (output.prediction != nullptr) download_picture(job.prediction, output.prediction);
    if (output.original != nullptr && slot.frame.original == nullptr) {
      download_picture(slot.role.has_original ? entry.input().original : job.current, output.original);
    }
    if (output.vectors != nullptr) copy_async(output.vectors, job.vectors, blocks, coding_);
    if (output.decided != nullptr && slot.role.by_rate && job.unpredicted != nullptr) {
      copy_async(output.decided, job.unpredicted, blocks, coding_);
    }
    if (output.sads != nullptr) copy_async(output.sads, job.sads, blocks, coding_);
    if (host.reference != nullptr) copy_async(host.reference, job.reconstruction, layout.picture_bytes, coding_);
  }
}

}  // namespace c63::cuda
