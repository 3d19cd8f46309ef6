#pragma once

#include <string>
#include <vector>

#include "io/output_file.h"
#include "mpi/communicator.h"
#include "segments/join.h"

namespace c63::tools {

/// Returns where each segment begins in the joined stream, in bytes, and at the end where the stream ends: the
/// exclusive scan of the sizes.
[[nodiscard]] std::vector<std::uint64_t> offsets_of(const std::vector<std::uint64_t>& sizes);

/// Writes the segments of this rank to their offsets in the file at `part_path`, which rank 0 has created and will
/// rename to the output. All ranks must call it. Each segment's bytes are checked against its record. Throws Error
/// (output, C63-WRITE-FAILED; input, C63-SEGMENT-DAMAGED) on all ranks.
void write_joined(Communicator& ranks, const std::string& part_path, const std::string& output_name,
                  const std::vector<SegmentFile>& segments, const std::vector<std::uint64_t>& offsets,
                  Durability durability);

}  // namespace c63::tools
