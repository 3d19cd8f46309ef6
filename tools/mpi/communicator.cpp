#include "mpi/communicator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "c63/error.h"

namespace c63::tools {
namespace {

using nlohmann::ordered_json;

/// Returns an error as text, to send to other ranks.
std::string text_of(const Error& error, const std::string& whose) {
  const ErrorPlace& place = error.place();
  ordered_json json = {{"kind", static_cast<int>(error.kind())},
                       {"id", error.id()},
                       {"message", whose + error.message()},
                       {"file", place.file}};
  if (place.frame) json["frame"] = *place.frame;
  if (place.offset) json["offset"] = *place.offset;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Error error_from(const std::string& text) {
  const ordered_json json = ordered_json::parse(text);
  ErrorPlace place{.file = json.at("file").get<std::string>()};
  if (json.contains("frame")) place.frame = json.at("frame").get<std::int64_t>();
  if (json.contains("offset")) place.offset = json.at("offset").get<std::int64_t>();
  return {static_cast<ErrorKind>(json.at("kind").get<int>()), json.at("id").get<std::string>(),
          json.at("message").get<std::string>(), place};
}

/// Calls `work`. Returns what it threw as an Error, or nothing.
std::optional<Error> fault_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::memory, "C63-MEMORY", "out of memory");
  } catch (const std::exception& fault) {
    return Error(ErrorKind::internal, "C63-INTERNAL", std::string("internal error: ") + fault.what());
  }
}

int length_of(const std::string& text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorKind::limit, "C63-MPI-LENGTH", "a message to other ranks is longer than MPI allows");
  }
  return static_cast<int>(text.size());
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (::MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(ErrorKind::internal, "C63-MPI",
              std::string(call) + " failed: " + one_line(std::string(text.data(), static_cast<std::size_t>(length))));
}

Communicator::Communicator(std::stop_token stop) : stop_(std::move(stop)) {
  int provided = 0;
  check_mpi(::MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) throw Error(ErrorKind::internal, "C63-MPI", "this MPI does not allow threads");
  check_mpi(::MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(::MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(::MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  MPI_Comm local = MPI_COMM_NULL;
  check_mpi(::MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local),
            "MPI_Comm_split_type");
  check_mpi(::MPI_Comm_rank(local, &local_rank_), "MPI_Comm_rank");
  check_mpi(::MPI_Comm_size(local, &local_size_), "MPI_Comm_size");
  check_mpi(::MPI_Comm_free(&local), "MPI_Comm_free");
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check_mpi(::MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  host_.assign(name.data(), static_cast<std::size_t>(length));
}

Communicator::~Communicator() {
  if (orderly_ && !stop_.stop_requested()) ::MPI_Finalize();
}

void Communicator::wait(MPI_Request& request) {
  using namespace std::chrono_literals;
  auto pause = 50us;
  orderly_ = false;
  for (int done = 0;;) {
    check_mpi(::MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) {
      orderly_ = true;
      return;
    }
    if (stop_.stop_requested()) throw Stopped();
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, 5ms);
  }
}

std::string Communicator::broadcast(std::string text, int from) {
  std::uint64_t length = text.size();
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(::MPI_Ibcast(&length, 1, MPI_UINT64_T, from, MPI_COMM_WORLD, &request), "MPI_Ibcast");
  wait(request);
  text.resize(length);
  check_mpi(::MPI_Ibcast(text.data(), length_of(text), MPI_CHAR, from, MPI_COMM_WORLD, &request), "MPI_Ibcast");
  wait(request);
  return text;
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  const int own = length_of(text);
  std::vector<int> lengths(is_first() ? static_cast<std::size_t>(size_) : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(::MPI_Igather(&own, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, &request), "MPI_Igather");
  wait(request);
  std::vector<int> starts;
  std::string all;
  for (const int length : lengths) {
    starts.push_back(length_of(all));
    all.resize(all.size() + static_cast<std::size_t>(length));
  }
  static_cast<void>(length_of(all));
  check_mpi(::MPI_Igatherv(text.data(), own, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                           MPI_COMM_WORLD, &request),
            "MPI_Igatherv");
  wait(request);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

void Communicator::together(const std::function<void()>& work) {
  const std::optional<Error> fault = fault_of(work);
  if (stop_.stop_requested()) throw Stopped();
  int own = fault ? rank_ : size_;
  int first = size_;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(::MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request), "MPI_Iallreduce");
  wait(request);
  if (first == size_) return;
  const std::string whose = first == 0 ? "" : "rank " + std::to_string(rank_) + " (" + host_ + "): ";
  throw error_from(broadcast(first == rank_ ? text_of(*fault, whose) : std::string(), first));
}

JobCounters::JobCounters(Communicator& ranks) : ranks_(ranks) {
  std::int64_t* memory = nullptr;
  const MPI_Aint bytes = ranks.is_first() ? static_cast<MPI_Aint>(kCounters * sizeof(std::int64_t)) : 0;
  check_mpi(::MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window_),
            "MPI_Win_allocate");
  check_mpi(::MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  if (ranks.is_first()) {
    check_mpi(::MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window_), "MPI_Win_lock");
    std::fill_n(memory, kCounters, 0);
    check_mpi(::MPI_Win_unlock(0, window_), "MPI_Win_unlock");
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(::MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  ranks.wait(request);
  check_mpi(::MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
}

JobCounters::~JobCounters() {
  if (!ranks_.orderly() || ranks_.stop_.stop_requested()) return;
  ::MPI_Win_unlock_all(window_);
  ::MPI_Win_free(&window_);
}

std::int64_t JobCounters::add(Counter counter, std::int64_t value) {
  std::int64_t before = 0;
  ranks_.orderly_ = false;
  check_mpi(::MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, counter, MPI_SUM, window_), "MPI_Fetch_and_op");
  check_mpi(::MPI_Win_flush(0, window_), "MPI_Win_flush");
  ranks_.orderly_ = true;
  return before;
}

}  // namespace c63::tools
