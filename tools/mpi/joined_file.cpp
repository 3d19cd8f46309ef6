#include "mpi/joined_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "c63/error.h"
#include "io/input_file.h"

namespace c63::tools {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

/// A file that all ranks have opened. It is written through MPI-IO, which handles the file systems of clusters.
class SharedFile {
 public:
  SharedFile(const std::string& path, std::string name) : name_(std::move(name)) {
    check(::MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file_),
          "cannot open for writing");
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  void write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    MPI_Status status;
    check(::MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), bytes.data(), static_cast<int>(bytes.size()),
                              MPI_BYTE, &status),
          "cannot write");
    int written = 0;
    check(::MPI_Get_count(&status, MPI_BYTE, &written), "cannot write");
    if (written != static_cast<int>(bytes.size())) {
      throw Error(ErrorKind::output, "C63-WRITE-FAILED", "cannot write all: the disk may be full", {.file = name_});
    }
  }

  void sync() { check(::MPI_File_sync(file_), "cannot write to the disk"); }
  /// All ranks must call it, also after an error.
  void close() { check(::MPI_File_close(&file_), "cannot finish writing"); }

 private:
  void check(int code, const std::string& what) const {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (::MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
    throw Error(ErrorKind::output, "C63-WRITE-FAILED",
                what + ": " + one_line(std::string(text.data(), static_cast<std::size_t>(length))), {.file = name_});
  }

  std::string name_;
  MPI_File file_ = MPI_FILE_NULL;
};

void write_segment(SharedFile& file, const SegmentFile& segment, std::uint64_t offset) {
  InputFile input(segment.stream);
  Sha256 sum;
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(segment.record.bytes, kPieceBytes)));
  for (std::uint64_t at = 0; at < segment.record.bytes;) {
    const auto piece = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(segment.record.bytes - at, buffer.size())));
    if (input.read(piece) != piece.size()) break;
    sum.add(piece);
    file.write(offset + at, piece);
    at += piece.size();
  }
  if (sum.finish() != segment.record.sha256) {
    throw Error(ErrorKind::input, "C63-SEGMENT-DAMAGED", "the segment's bytes differ from those that were encoded",
                {.file = segment.stream});
  }
}

}  // namespace

std::vector<std::uint64_t> offsets_of(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> offsets = {0};
  for (const std::uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  return offsets;
}

void write_joined(Communicator& ranks, const std::string& part_path, const std::string& output_name,
                  const std::vector<SegmentFile>& segments, const std::vector<std::uint64_t>& offsets,
                  Durability durability) {
  std::optional<SharedFile> file;
  ranks.together([&] { file.emplace(part_path, output_name); });
  std::optional<Error> fault;
  try {
    ranks.together([&] {
      for (const SegmentFile& segment : segments) {
        write_segment(*file, segment, offsets[static_cast<std::size_t>(segment.record.segment.number - 1)]);
      }
    });
    if (durability == Durability::power_loss) ranks.together([&] { file->sync(); });
  } catch (const Error& error) {
    if (!ranks.orderly()) throw;
    fault = error;
  }
  ranks.together([&] { file->close(); });
  if (fault) throw Error(*fault);
}

}  // namespace c63::tools
