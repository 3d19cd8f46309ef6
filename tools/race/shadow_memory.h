#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace c63::race {

/// Who accesses a byte of an emulated GPU.
struct Stamp {
  std::uint64_t block : 32 = 0;     ///< thread block, counted over all launches from 1; 0: nobody
  std::uint64_t interval : 32 = 0;  ///< from barrier to barrier
  std::uint64_t from : 32 = 0;      ///< place in the code
  std::uint64_t thread : 10 = 0;
  std::uint64_t epoch : 16 = 0;       ///< of the warp, from __syncwarp() to __syncwarp()
  std::uint64_t is_together : 1 = 0;  ///< volatile or atomic
  std::uint64_t is_many : 1 = 0;      ///< another thread has done so in the same interval, too
  std::uint64_t is_pending : 1 = 0;   ///< by a copy that was not waited for
};

/// What was seen, once for each place in the code. An id is a literal.
class Notes {
 public:
  struct Note {
    std::string text;
    std::uint32_t other = 0;  ///< another place in the code; 0: none
  };

  /// `text` is a string, or a function that returns one.
  template <typename Text>
  void add(const char* id, std::uint32_t from, const Text& text, std::uint32_t other = 0) {
    const std::pair key(std::string_view(id), from);
    if (notes_.contains(key)) return;
    if constexpr (std::is_invocable_v<Text>) {
      notes_.emplace(key, Note{text(), other});
    } else {
      notes_.emplace(key, Note{text, other});
    }
  }
  [[nodiscard]] const std::map<std::pair<std::string_view, std::uint32_t>, Note>& all() const { return notes_; }

 private:
  std::map<std::pair<std::string_view, std::uint32_t>, Note> notes_;
};

/// What is known of each byte of an address range: its last write, and its last read.
class ShadowMemory {
 public:
  /// Throws Error (memory).
  explicit ShadowMemory(std::size_t bytes);
  ~ShadowMemory();
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;

  /// How bytes are accessed.
  struct Access {
    bool is_read = false;
    bool is_write = false;
    bool is_shared = false;       ///< shared memory: other blocks have their own
    bool has_value = false;       ///< the memory has a value before anybody writes
    std::uint32_t first_block = 0;  ///< of the launch
  };
  /// Notes what is wrong with an access, and remembers it. Faults are races; doubts are reads of what nobody has written, and races
  /// in which one side is atomic.
  void check(std::size_t at, std::size_t count, const Access& access, Stamp now, Notes& faults, Notes& doubts);
  /// Bytes that were just written by a copy have their values only after it has ended.
  void set_pending(std::size_t at, std::size_t count);
  /// Notes that the host has written bytes.
  void set_written(std::size_t at, std::size_t count, Stamp now);

 private:
  struct Byte {
    Stamp write;
    Stamp read;
  };
  std::size_t size_;
  Byte* bytes_;  ///< zeros; the system gives memory for those that are used
};

/// Device memory. Next to each allocation are pages that may not be touched.
class DeviceMemory {
 public:
  struct Allocation {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    const char* name = "";
    std::unique_ptr<ShadowMemory> shadow = {};  ///< null if it must not be written to
    bool is_managed = false;                    ///< the host may access it
  };
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void free_all();
  /// Returns false unless this is the begin of an allocation.
  bool free(std::uintptr_t place);
  /// Returns null if there is none left.
  [[nodiscard]] std::uint8_t* allocate(std::size_t bytes, const char* name, bool is_read_only, bool is_managed = false);
  /// If the host is a user's program, device memory that is not managed is hidden from it.
  void hide(bool hides) const;
  void hide_from_host() { is_hidden_ = true; }
  [[nodiscard]] bool contains(std::uintptr_t place) const;
  /// Returns the allocation with this address, or null.
  [[nodiscard]] const Allocation* find(std::uintptr_t place) const;
  /// Says how far an access is from the nearest allocation.
  [[nodiscard]] std::string distance(std::uintptr_t place, std::size_t bytes) const;

 private:
  std::uint8_t* arena_;
  std::size_t used_ = 0;
  bool is_hidden_ = false;
  std::vector<Allocation> allocations_;
  std::vector<std::uint16_t> owners_;  ///< number of each page's allocation plus 1; 0: none
};

/// Returns memory from the system, filled with zeros. Throws Error (memory).
[[nodiscard]] std::uint8_t* map_memory(std::size_t bytes);

}  // namespace c63::race
