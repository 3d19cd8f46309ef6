#pragma once

#include <string>
#include <vector>

#include "io/output_file.h"
#include "mpi/communicator.h"
#include "segments/join.h"

namespace c63::tools {

/// Where each segment begins in the joined stream, and after the last one, where the stream ends: the exclusive scan of
/// their sizes.
[[nodiscard]] std::vector<std::uint64_t> offsets_of(const std::vector<std::uint64_t>& sizes);

/// Writes the segments of this rank to their places in the file that becomes `output`, which the first rank has. All
/// ranks call it. It compares what it reads with the records. Throws Error (output, C63-WRITE-FAILED; input,
/// C63-SEGMENT-DAMAGED), on all ranks.
void write_joined(Communicator& ranks, const std::string& part_path, const std::string& output_name,
                  const std::vector<SegmentFile>& segments, const std::vector<std::uint64_t>& offsets,
                  Durability durability);

}  // namespace c63::tools
