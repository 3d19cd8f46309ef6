// Sum, minimum and maximum, and their positions. The fast forms keep several partial results per thread in vectors,
// because a compiler may not reorder the additions of floats.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include "c63/filter_checks.h"
#include "c63/filters.h"
#include "filters/clones.h"
#include "c63/thread_pool.h"

namespace c63 {
namespace {

constexpr std::size_t kGrain = std::size_t{1} << 16;

// The most values that sum_piece() and errors_of_piece() get in one call.
constexpr std::size_t kPiece = 4096;

C63_CLONES std::uint64_t sum_piece(const std::uint8_t* values, std::size_t count) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += values[i];
  return total;
}
C63_CLONES std::int64_t sum_piece(const std::int32_t* values, std::size_t count) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += values[i];
  return total;
}

/// Returns the sum of squared differences of fewer than 33000 samples.
C63_CLONES std::uint32_t errors_of_piece(const std::uint8_t* a, const std::uint8_t* b, std::size_t count) {
  std::int32_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto difference = static_cast<std::int16_t>(a[i] - b[i]);
    total += difference * difference;
  }
  return static_cast<std::uint32_t>(total);
}

/// Splits 0..count-1 into pieces and returns the sum of piece(first, length) over them, computed on all threads. The
/// results are added in order, so the sum does not depend on the number of threads.
template <typename Total, typename Piece>
Total sum_of_pieces(std::size_t count, const Piece& piece) {
  const auto sum_of_grain = [&](std::size_t first) {
    const std::size_t last = std::min(first + kGrain, count);
    Total total{};
    for (std::size_t i = first; i < last; i += kPiece) total += piece(i, std::min(kPiece, last - i));
    return total;
  };
  if (count <= kGrain) return sum_of_grain(0);
  std::vector<Total> sums((count + kGrain - 1) / kGrain);
  parallel_ranges(sums.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t grain = begin; grain < end; ++grain) sums[grain] = sum_of_grain(grain * kGrain);
  });
  Total total{};
  for (const Total s : sums) total += s;
  return total;
}

using Doubles = Vector<double>;
constexpr std::size_t kLanes = kLanesOf<double>;

template <typename T>
struct LanesOf {
  using type __attribute__((vector_size(kLanes * sizeof(T)))) = T;
};

/// Returns the sum in double, with four vectors of partial sums.
template <typename T>
[[gnu::always_inline]] inline double sum_in_lanes(const T* values, std::size_t count) {
  Doubles a{}, b{}, c{}, d{};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    typename LanesOf<T>::type x, y, z, w;
    std::memcpy(&x, values + i, sizeof x);
    std::memcpy(&y, values + i + kLanes, sizeof y);
    std::memcpy(&z, values + i + 2 * kLanes, sizeof z);
    std::memcpy(&w, values + i + 3 * kLanes, sizeof w);
    a += __builtin_convertvector(x, Doubles);
    b += __builtin_convertvector(y, Doubles);
    c += __builtin_convertvector(z, Doubles);
    d += __builtin_convertvector(w, Doubles);
  }
  a += b + (c + d);
  double total = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) total += a[lane];
  for (; i < count; ++i) total += values[i];
  return total;
}
C63_CLONES double sum_piece(const float* values, std::size_t count) { return sum_in_lanes(values, count); }
C63_CLONES double sum_piece(const double* values, std::size_t count) { return sum_in_lanes(values, count); }

// C63_EXTREME defines a function that returns the smallest or largest of `best` and the values of a piece. It keeps
// four vectors of partial results, so that comparisons do not wait for each other.
#define C63_EXTREME(name, T, better)                                                 \
  C63_CLONES T name(const T* values, std::size_t count, T best) {                    \
    constexpr std::size_t kWidth = kLanesOf<T>;                                      \
    std::size_t i = 0;                                                               \
    if (count >= 4 * kWidth) {                                                       \
      Vector<T> a = Vector<T>{} + best, b = a, c = a, d = a;                         \
      for (; i + 4 * kWidth <= count; i += 4 * kWidth) {                             \
        Vector<T> x, y, z, w;                                                        \
        std::memcpy(&x, values + i, sizeof x);                                       \
        std::memcpy(&y, values + i + kWidth, sizeof y);                              \
        std::memcpy(&z, values + i + 2 * kWidth, sizeof z);                          \
        std::memcpy(&w, values + i + 3 * kWidth, sizeof w);                          \
        a = x better a ? x : a;                                                      \
        b = y better b ? y : b;                                                      \
        c = z better c ? z : c;                                                      \
        d = w better d ? w : d;                                                      \
      }                                                                              \
      a = b better a ? b : a;                                                        \
      c = d better c ? d : c;                                                        \
      a = c better a ? c : a;                                                        \
      for (std::size_t lane = 0; lane < kWidth; ++lane) {                            \
        const T candidate = a[lane];                                                 \
        best = candidate better best ? candidate : best;                             \
      }                                                                              \
    }                                                                                \
    for (; i < count; ++i) best = values[i] better best ? values[i] : best;          \
    return best;                                                                     \
  }
#define C63_EXTREMES(T)         \
  C63_EXTREME(smallest_of, T, <) \
  C63_EXTREME(largest_of, T, >)
C63_EXTREMES(std::uint8_t)
C63_EXTREMES(std::int32_t)
C63_EXTREMES(float)
C63_EXTREMES(double)
#undef C63_EXTREMES
#undef C63_EXTREME

/// Returns the best of all values, by `better`. Threads call best_of(values, count, best) for pieces; it must return
/// the best of `best` and the piece's values.
template <typename T, typename Better>
T best_of_pieces(std::span<const T> values, T (*best_of)(const T*, std::size_t, T), const Better& better) {
  T best = values[0];
  std::mutex mutex;
  parallel_ranges(values.size(), 4 * kGrain, [&](std::size_t begin, std::size_t end) {
    const T mine = best_of(values.data() + begin, end - begin, values[begin]);
    const std::scoped_lock lock(mutex);
    best = better(best, mine);
  });
  return best;
}

/// Returns the position of the first best value. First finds the best value of each group of kGrain values. Then
/// searches only the first group that has the best value of all. `best_element` is min_element or max_element.
template <typename T, typename BestElement>
std::size_t place_of_best(std::span<const T> values, T (*best_of)(const T*, std::size_t, T), const BestElement& best_element) {
  std::vector<T> best((values.size() + kGrain - 1) / kGrain);
  parallel_ranges(best.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t grain = begin; grain < end; ++grain) {
      const std::size_t first = grain * kGrain;
      best[grain] = best_of(values.data() + first, std::min(kGrain, values.size() - first), values[first]);
    }
  });
  const auto winner = best_element(best);
  const auto from = values.begin() + (winner - best.begin()) * static_cast<std::ptrdiff_t>(kGrain);
  return static_cast<std::size_t>(std::find(from, values.end(), *winner) - values.begin());
}

template <typename T>
void require_values(std::span<const T> values, const char* what) {
  require(!values.empty(), "C63-FILTER-EMPTY", std::string("the ") + what + " of 0 values is not defined");
}

}  // namespace

template <typename T>
SumOf<T> sum(std::span<const T> values, FilterForm form) {
  if (form == FilterForm::serial) {
    SumOf<T> total{};
    for (const T value : values) total += static_cast<SumOf<T>>(value);
    return total;
  }
  return sum_of_pieces<SumOf<T>>(values.size(),
                                 [&](std::size_t i, std::size_t count) { return sum_piece(values.data() + i, count); });
}

std::uint64_t sum_of_squared_errors(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, FilterForm form) {
  check_same_length(a.size(), "a signal", b.size(), "the other");
  if (form == FilterForm::serial) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const int difference = a[i] - b[i];
      total += static_cast<std::uint64_t>(difference * difference);
    }
    return total;
  }
  return sum_of_pieces<std::uint64_t>(a.size(), [&](std::size_t i, std::size_t count) {
    return errors_of_piece(a.data() + i, b.data() + i, count);
  });
}

template <typename T>
T minimum(std::span<const T> values, FilterForm form) {
  require_values(values, "minimum");
  if (form == FilterForm::serial) return *std::ranges::min_element(values);
  return best_of_pieces(values, smallest_of, [](T a, T b) { return std::min(a, b); });
}

template <typename T>
T maximum(std::span<const T> values, FilterForm form) {
  require_values(values, "maximum");
  if (form == FilterForm::serial) return *std::ranges::max_element(values);
  return best_of_pieces(values, largest_of, [](T a, T b) { return std::max(a, b); });
}

template <typename T>
std::size_t argmin(std::span<const T> values, FilterForm form) {
  require_values(values, "place of the minimum");
  if (form == FilterForm::serial) {
    return static_cast<std::size_t>(std::ranges::min_element(values) - values.begin());
  }
  return place_of_best(values, smallest_of, std::ranges::min_element);
}

template <typename T>
std::size_t argmax(std::span<const T> values, FilterForm form) {
  require_values(values, "place of the maximum");
  if (form == FilterForm::serial) {
    return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
  }
  return place_of_best(values, largest_of, std::ranges::max_element);
}

#define C63_INSTANTIATE(T)                                       \
  template SumOf<T> sum<T>(std::span<const T>, FilterForm);      \
  template T minimum<T>(std::span<const T>, FilterForm);         \
  template T maximum<T>(std::span<const T>, FilterForm);         \
  template std::size_t argmin<T>(std::span<const T>, FilterForm); \
  template std::size_t argmax<T>(std::span<const T>, FilterForm);
C63_INSTANTIATE(std::uint8_t)
C63_INSTANTIATE(std::int32_t)
C63_INSTANTIATE(float)
C63_INSTANTIATE(double)
#undef C63_INSTANTIATE

}  // namespace c63
