#include "cuda_me/decoder/scan_group.h"

#include <cstring>

#include "bitstream/bit_reader.h"

namespace c63::cuda {
ScanGroup::ScanGroup(const ScanShape& shape, std::size_t blocks, int frames)
    : shape_(shape), blocks_(blocks), frames_(frames),
      levels_(static_cast<std::size_t>(frames) * blocks * 64), vectors_(static_cast<std::size_t>(frames) * blocks),
      fine_(static_cast<std::size_t>(frames)) {}

int ScanGroup::add(const ParsedFrame& frame) {
  if (tables_.empty() || tables_.back() != frame.tables) tables_.push_back(frame.tables);
  scans_.push_back({frame.scan, frame.key, tables_.size() - 1});
  bytes_ += frame.scan.size();
  return size() - 1;
}

void ScanGroup::parse(const ScanTables* tables, ScanStaging& staging, const ParallelFor& parallel_for) {
  quantizers_ = aligned(scans_.size() * sizeof(ScanJob));
  std::size_t end = aligned(quantizers_ + tables_.size() * sizeof(QuantizerTable));
  std::vector<std::size_t> places;
  for (const Scan& scan : scans_) {
    places.push_back(end);
    end = aligned(end + scan.stuffed.size() + zeros_after_scan(0) + 4);
  }
  make_room(input_, end);
  staging.uploaded.synchronize();
  make_room(staging.memory, end);

  std::uint8_t* const host = staging.memory.data();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const QuantizerTable quantizers = make_quantizer_table(tables_[i]);
    std::memcpy(host + quantizers_ + i * sizeof(QuantizerTable), quantizers.data(), sizeof(QuantizerTable));
  }
  parallel_for(size(), [&](int i) {
    const Scan& scan = scans_[static_cast<std::size_t>(i)];
    std::uint8_t* const to = host + places[static_cast<std::size_t>(i)];
    const std::size_t size = remove_stuffing(scan.stuffed, to);
    std::memset(to + size, 0, zeros_after_scan(size));
    const ScanJob job{input_.data() + places[static_cast<std::size_t>(i)], size, scan.key ? 1U : 0U};
    std::memcpy(host + static_cast<std::size_t>(i) * sizeof(ScanJob), &job, sizeof job);
  });

  stream_.wait(released_);
  copy_async(input_.data(), static_cast<const std::uint8_t*>(host), end, stream_);
  staging.uploaded.record(stream_);
  // Parsing writes only coded levels, so all levels are set to zero first.
  fill_async(levels_.data(), 0, scans_.size() * blocks_ * 64 * sizeof(std::int16_t), stream_);
  enqueue_parsing(shape_,
                  {.tables = tables,
                   .jobs = reinterpret_cast<const ScanJob*>(input_.data()),
                   .count = size(),
                   .blocks = blocks_,
                   .to = {levels_.data(), vectors_.data()},
                   .fine = fine_.data()},
                  stream_);
  parsed_.record(stream_);
  parsing_ = true;
}

RestoreJob ScanGroup::job(int number) const {
  const std::size_t first = static_cast<std::size_t>(number) * blocks_;
  const std::size_t table = scans_[static_cast<std::size_t>(number)].table;
  return {.levels = levels_.data() + first * 64,
          .vectors = vectors_.data() + first,
          .quantizers = reinterpret_cast<const StepQuantizer*>(input_.data() + quantizers_ + table * sizeof(QuantizerTable))};
}

void ScanGroup::release(cudaStream_t stream) {
  released_.record(stream);
  clear();
}

void ScanGroup::clear() {
  scans_.clear();
  tables_.clear();
  bytes_ = 0;
  parsing_ = false;
}

}  // namespace c63::cuda
